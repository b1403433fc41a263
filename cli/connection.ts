/** Which control plane a command speaks to, and as whom. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { LOCAL_FILE } from '../client/local-run.ts';
import { CliError } from './errors.ts';
import type { Io } from './io.ts';
import { findLocalRun } from './local-run.ts';

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When they run out; absent: they do not. */
  readonly expiration?: Date;
};

export type Connection = {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly region: string;
  /** Asked before every request: credentials of a role run out. */
  readonly credentials: () => Promise<Credentials>;
  /** The control plane of `npm start`: what to try when it does not answer differs. */
  readonly isLocal: boolean;
  /** The file that says where that one is. */
  readonly localFile?: string;
};

export type ConnectionOptions = {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
};

/** What `npm start` writes for this program to find. */
const localFileSchema = z.object({
  endpoint: z.string(),
  region: z.string(),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
});

/** The control plane named by options or environment; without either, the one that `npm start` runs here. */
export async function resolveConnection(options: ConnectionOptions, io: Io): Promise<Connection> {
  const endpoint = options.endpoint ?? nonEmpty(io.env['HOLDOFF_ENDPOINT']);
  if (endpoint !== undefined) return remoteConnection(endpoint, options, io);
  for (const name of ['region', 'profile'] as const) {
    if (options[name] === undefined) continue;
    throw new CliError('Usage', {
      what: `--${name} was given without an endpoint`,
      why: 'it says how to reach a deployed control plane; without --endpoint the one of `npm start` is asked',
      next: 'add --endpoint URL (the output Endpoint of the stack), or leave the option out',
    });
  }
  return localConnection(io);
}

async function remoteConnection(endpoint: string, options: ConnectionOptions, io: Io): Promise<Connection> {
  const url = checkedUrl(endpoint);
  const region =
    options.region ??
    nonEmpty(io.env['HOLDOFF_REGION']) ??
    regionOfHost(url.hostname) ??
    nonEmpty(io.env['AWS_REGION']) ??
    nonEmpty(io.env['AWS_DEFAULT_REGION']);
  if (region === undefined) {
    throw new CliError('Usage', {
      what: 'no Region is known to sign requests for',
      why: `${url.hostname} does not name one`,
      next: 'add --region REGION, or set HOLDOFF_REGION',
    });
  }
  return {
    endpoint: withoutSlash(url.href),
    region,
    credentials: await awsCredentials(region, options.profile),
    isLocal: false,
  };
}

/** Credentials as every AWS tool finds them. The provider is large and only loaded when it is needed. */
async function awsCredentials(region: string, profile: string | undefined): Promise<() => Promise<Credentials>> {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  const provider = fromNodeProviderChain({ clientConfig: { region }, ...(profile === undefined ? {} : { profile }) });
  return async () => {
    try {
      return await provider();
    } catch (error) {
      throw new CliError(
        'NoCredentials',
        {
          what: 'no AWS credentials to sign with',
          why: error instanceof Error ? error.message : String(error),
          next: 'log in (`aws sso login`), choose a profile with --profile NAME, or set AWS_PROFILE',
        },
        { cause: error },
      );
    }
  };
}

async function localConnection(io: Io): Promise<Connection> {
  const path = join(nonEmpty(io.env['HOLDOFF_DATA']) ?? (await findLocalRun(io)), LOCAL_FILE);
  const text = await readLocalFile(path, io);
  const parsed = localFileSchema.safeParse(jsonOrUndefined(text));
  if (!parsed.success) {
    throw new CliError('BadLocalFile', {
      what: `${path} does not say where the control plane is`,
      why: 'it is not the file that `npm start` writes',
      next: 'run `npm start` again: it writes the file anew',
    });
  }
  const { endpoint, region, credentials } = parsed.data;
  return {
    endpoint: withoutSlash(endpoint),
    region,
    credentials: async () => credentials,
    isLocal: true,
    localFile: path,
  };
}

async function readLocalFile(path: string, io: Io): Promise<string> {
  try {
    return await io.readFile(path);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new CliError(
      'NoLocalControlPlane',
      {
        what: 'no control plane is known here',
        why: missing ? `${path} does not exist` : `${path} cannot be read: ${String(error)}`,
        next: 'start one with `npm start` in this directory; set HOLDOFF_DATA=DIR to the data folder of one that runs (it prints `data in DIR`); or name a deployed one: --endpoint URL --region REGION',
      },
      { cause: error },
    );
  }
}

function checkedUrl(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.search === '') return url;
  throw new CliError('Usage', {
    what: `${endpoint} is not an endpoint`,
    why: 'an endpoint is a URL that begins with https:// and has no query',
    next: 'take the output Endpoint of the stack',
  });
}

/** `us-east-1` of `abc.execute-api.us-east-1.amazonaws.com`. */
const regionOfHost = (host: string): string | undefined =>
  /\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(host)?.[1];

/** Undefined stands for text that is not JSON: the schema refuses it with the rest. */
function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
