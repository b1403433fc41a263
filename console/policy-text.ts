/** A group's policy as text that a person edits, and what the API's own schema says of it. */
import type { GroupJson } from '../core/contract/answers.ts';
import { type GroupBody, groupBodySchema } from '../core/policy/group-policy.ts';

/** The policy as it would be put: what is none is left out. */
export const policyText = ({ policy }: Pick<GroupJson, 'policy'>): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null && value !== undefined)),
    null,
    2,
  );

export type Read =
  | { readonly kind: 'body'; readonly body: GroupBody }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** Nothing is sent that the API would refuse: the schema is the one that it uses. */
export function readPolicy(text: string): Read {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return { kind: 'problems', problems: [`not JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const read = groupBodySchema.safeParse(given);
  if (read.success) return { kind: 'body', body: read.data };
  const problems = read.error.issues.map(({ path, message }) => {
    const where = path.map(String).join('.');
    return where === '' ? message : `${where}: ${message}`;
  });
  return { kind: 'problems', problems };
}
