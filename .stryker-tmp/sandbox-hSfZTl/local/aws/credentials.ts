// @ts-nocheck
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { EmbeddedAwsError } from './errors.ts';

/** One caller the front knows, in the words of `requestContext.authorizer.iam`. */
export interface Credential {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly userArn: string;
  readonly accountId: string;
  readonly userId: string;
}

/** The table of callers, kept in one file with mode 0600. */
export interface CredentialTable {
  /** The operator's credential; the same at every start. */
  readonly operator: () => Credential;
  /** The credential of one node's instance profile, made the first time it is asked for. */
  readonly node: (nodeId: string) => Credential;
  /** The credential with this access key id, or null. The file is read again when it has changed. */
  readonly find: (accessKeyId: string) => Credential | null;
}

export interface CredentialOptions {
  readonly file: string;
  readonly accountId?: string;
  /** Name of the role the nodes are on; default `HoldoffNode`. */
  readonly nodeRole?: string;
}

const Table = z.array(
  z.object({
    accessKeyId: z.string().check(z.regex(/^[A-Z0-9]{16,128}$/)),
    secretAccessKey: z.string().check(z.minLength(16)),
    sessionToken: z.optional(z.string()),
    userArn: z.string().check(z.regex(/^arn:aws[a-z-]*:(iam|sts)::\d{12}:.+$/)),
    accountId: z.string().check(z.regex(/^\d{12}$/)),
    userId: z.string(),
  }),
);

/** Opens the table of callers, creating it with an operator when there is none. */
export function openCredentials(options: CredentialOptions): CredentialTable {
  const { file, accountId = '000000000000', nodeRole = 'HoldoffNode' } = options;
  let table = new Map<string, Credential>();
  let version = '';

  const refresh = (): void => {
    const now = versionOf(file);
    if (now === version) return;
    table = new Map(read(file).map((credential) => [credential.accessKeyId, credential]));
    version = now;
  };
  const obtain = (userArn: string, create: () => Credential): Credential => {
    refresh();
    const known = [...table.values()].find((credential) => credential.userArn === userArn);
    if (known !== undefined) return known;
    const created = create();
    write(file, [...table.values(), created]);
    refresh();
    return created;
  };
  const operator = (): Credential =>
    obtain(`arn:aws:iam::${accountId}:user/operator`, () => ({
      accessKeyId: keyId('AKIA'),
      secretAccessKey: secret(30),
      userArn: `arn:aws:iam::${accountId}:user/operator`,
      accountId,
      userId: keyId('AIDA'),
    }));
  const node = (nodeId: string): Credential =>
    obtain(`arn:aws:sts::${accountId}:assumed-role/${nodeRole}/${nodeId}`, () => ({
      accessKeyId: keyId('ASIA'),
      secretAccessKey: secret(30),
      sessionToken: secret(96),
      userArn: `arn:aws:sts::${accountId}:assumed-role/${nodeRole}/${nodeId}`,
      accountId,
      // IAM's unique id of a role session: the role's id, a colon, the session name.
      userId: `${roleId(nodeRole)}:${nodeId}`,
    }));
  mkdirSync(dirname(file), { recursive: true });
  if (existsSync(file)) chmodSync(file, 0o600);
  operator();
  return {
    operator,
    node,
    find: (accessKeyId) => {
      refresh();
      return table.get(accessKeyId) ?? null;
    },
  };
}

/** Tells one state of the file from another: `rename` gives a new inode, an edit in place a new time or size. */
function versionOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino}/${stat.mtimeNs}/${stat.size}`;
}

function read(file: string): Credential[] {
  if (!existsSync(file)) return [];
  try {
    return z.parse(Table, JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new EmbeddedAwsError('CredentialsBroken', `${file} is not a table of credentials`, { cause: error });
  }
}

function write(file: string, credentials: readonly Credential[]): void {
  const fresh = `${file}.new`;
  writeFileSync(fresh, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const idOf = (bytes: Uint8Array): string => [...bytes].map((byte) => ID_ALPHABET.charAt(byte % 32)).join('');
const keyId = (prefix: string): string => prefix + idOf(randomBytes(16));
const secret = (bytes: number): string => randomBytes(bytes).toString('base64');

/** A role's unique id: the same for all sessions of the role. */
function roleId(role: string): string {
  return `AROA${idOf(Buffer.from(role.padEnd(16, '.')).subarray(0, 16))}`;
}
