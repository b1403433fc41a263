/** Groups and VMs declared in files: YAML or JSON, by name, the bodies of the API (DESIGN section 2b). */
import { isScalar, parseDocument, stringify } from 'yaml';
import * as z from 'zod/mini';
import { type VmBody, vmBodySchema } from '../../core/contract/operator-bodies.ts';
import { NAME_RULE, parseGroupId, parseVmId } from '../../core/kit/ids.ts';
import { type GroupBody, groupBodySchema } from '../../core/policy/group-policy.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';

/** Absent: the files say nothing of that kind. */
export type Declared = { groups?: Record<string, GroupBody>; vms?: Record<string, VmBody> };

const fileSchema = z.strictObject({
  groups: z.optional(z.record(z.string(), z.nullable(groupBodySchema))),
  vms: z.optional(z.record(z.string(), vmBodySchema)),
});

/** @throws {CliError} BadFile: what cannot be read, is not a declaration, or says one name twice */
export async function readDeclared(files: readonly string[], io: Io): Promise<Declared> {
  const all: Declared = {};
  const from = new Map<string, string>();
  for (const file of files) {
    const { groups, vms } = parseDeclared(await textOf(file, io), nameOf(file));
    for (const [kind, things] of [['group', groups] as const, ['VM', vms] as const])
      for (const name of Object.keys(things ?? {})) {
        const other = from.get(`${kind} ${name}`);
        if (other !== undefined) throw badFile(nameOf(file), `${kind} ${name} is declared in ${other}, too`);
        from.set(`${kind} ${name}`, nameOf(file));
      }
    if (groups !== undefined) all.groups = { ...all.groups, ...groups };
    if (vms !== undefined) all.vms = { ...all.vms, ...vms };
  }
  return all;
}

/** @throws {CliError} BadFile, with each place that is wrong */
export function parseDeclared(text: string, name: string): Declared {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) throw badFile(name, `it is neither YAML nor JSON: ${error.message.split('\n')[0] ?? ''}`);
  const parsed = z.safeParse(fileSchema, document.toJS() ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) =>
        `${issue.path.map(String).join('.') || '(file)'}: ${issue.message}${sayQuotes(issue, document.getIn(issue.path, true))}`,
    );
    throw badFile(name, problems.join('; '));
  }
  const { groups, vms } = parsed.data;
  for (const id of Object.keys(groups ?? {}))
    if (parseGroupId(id) === null) throw badFile(name, `groups.${id}: a group name is ${NAME_RULE}`);
  for (const id of Object.keys(vms ?? {}))
    if (parseVmId(id) === null) throw badFile(name, `vms.${id}: a VM id is ${NAME_RULE}`);
  return {
    ...(groups === undefined
      ? {}
      : { groups: Object.fromEntries(Object.entries(groups).map(([group, body]) => [group, body ?? {}])) }),
    ...(vms === undefined ? {} : { vms }),
  };
}

/** YAML reads 1.20 as the number 1.2: a version needs quotes there, and no message of a schema says so. */
function sayQuotes(issue: z.core.$ZodIssue, found: unknown): string {
  if (issue.code !== 'invalid_type' || issue.expected !== 'string' || !isScalar(found)) return '';
  const { value, source } = found;
  if (typeof value !== 'number' && typeof value !== 'boolean') return '';
  return ` (${source ?? String(value)} is a ${typeof value} in YAML; in quotes it is a text: "${source ?? String(value)}")`;
}

/** What `export` writes and `apply` reads. */
export const declaredText = (declared: Declared): string => stringify(declared, { lineWidth: 110 });

const nameOf = (file: string): string => (file === '-' ? 'standard input' : file);

async function textOf(file: string, io: Io): Promise<string> {
  try {
    return file === '-' ? await io.readStdin() : await io.readFile(file);
  } catch (error) {
    throw badFile(nameOf(file), error instanceof Error ? error.message : String(error));
  }
}

const badFile = (name: string, why: string): CliError =>
  new CliError('BadFile', {
    what: `${name} is no declaration that can be applied; nothing was changed`,
    why,
    next: 'write `groups:` and `vms:` by name, with the bodies that `holdoff openapi` describes; `holdoff export` shows the form',
  });
