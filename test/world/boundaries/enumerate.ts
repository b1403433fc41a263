/** Kills each path of a story at each of its external calls, and compares how the story ends. */
import type { Final } from './final.ts';
import { type Story, tell, type Told } from './story.ts';
import type { ExternalCall, Kill } from '../../../world/kernel.ts';
import type { Invoked } from './stage.ts';

/** A path: what a handler did in one invocation of the story, the first that made just these calls. */
export type Path = {
  story: string;
  handler: string;
  path: string;
  calls: readonly string[];
  /** Deaths that were looked at, and how many of them left different writes behind. */
  kills: number;
  outcomes: number;
};

export type Enumerated = { paths: Path[]; failures: string[]; told: number };

/**
 * @param each tells the story for every single death. Otherwise deaths of one invocation that leave the same writes
 * behind are told once: a process that is dead has left nothing else.
 */
export async function enumerate(story: Story, each = false): Promise<Enumerated> {
  const undisturbed = await tell(story, null);
  const failures = undisturbed.faults.map((fault) => `${story.name}, undisturbed: ${fault}`);
  const paths: Path[] = [];
  const seen = new Set<string>();
  let told = 1;
  for (const [index, invocation] of undisturbed.invocations.entries()) {
    const { handler, path, calls } = invocation;
    const key = JSON.stringify([path, calls]);
    if (seen.has(key) || calls.length === 0) continue;
    seen.add(key);
    const kills = killsOf(calls);
    const outcomes = new Map(kills.map((kill, at) => [each ? String(at) : leaves(calls, kill), kill]));
    for (const kill of outcomes.values()) {
      for (const again of invocation.certain ? [true] : [true, false]) {
        told += 1;
        const what = `${story.name}: ${sayDeath(invocation, index, kill, again)}`;
        failures.push(...(await judge(story, undisturbed, index, kill, again)).map((wrong) => `${what}: ${wrong}`));
      }
    }
    const names = calls.map(({ name }) => name);
    paths.push({ story: story.name, handler, path, calls: names, kills: kills.length, outcomes: outcomes.size });
  }
  return { paths, failures, told };
}

async function judge(story: Story, undisturbed: Told, index: number, kill: Kill, again: boolean): Promise<string[]> {
  const told = await tell(story, { invocation: index, kill, again });
  const invocation = told.invocations[index];
  const subject = invocation === undefined ? null : subjectOf(invocation);
  // A person who got no answer and does not ask again: what was not written was not asked for.
  const asked = again || subject === null || invocation?.effects.includes(subject) === true;
  const expected = asked ? undisturbed : await tell(story, { invocation: index, kill: NEVER_BEGUN, again: false });
  return [...told.faults, ...differences(expected.final, told.final)];
}

const NEVER_BEGUN: Kill = { call: 1, when: 'before', lostFrom: 1 };

/** Before and after each call; and where calls were under way together, each write of them alone. */
const killsOf = (calls: readonly ExternalCall[]): Kill[] =>
  calls.flatMap(({ batch, writes }, at): Kill[] => {
    const call = at + 1;
    return [
      { call, when: 'before', lostFrom: call },
      { call, when: 'after', lostFrom: call },
      ...(writes && batch < call ? [{ call, when: 'after' as const, lostFrom: batch }] : []),
    ];
  });

/** The writes that have taken effect when the process is dead. */
function leaves(calls: readonly ExternalCall[], { call, when, lostFrom }: Kill): string {
  const done = (number: number): boolean => number < lostFrom || (number === call && when === 'after');
  return calls.flatMap(({ writes }, at) => (writes && done(at + 1) ? [at + 1] : [])).join();
}

/** What an operator's call writes first about its own subject; null for everything that nobody asked for. */
function subjectOf({ handler, path }: Invoked): string | null {
  const kind = /^(?:POST|PUT|DELETE) \/v1\/(node|vm|group)s/.exec(path)?.[1];
  return handler === 'api' && kind !== undefined ? `DynamoDB UpdateItem (${kind})` : null;
}

function sayDeath({ path, calls }: Invoked, index: number, kill: Kill, again: boolean): string {
  const { name } = calls[kill.call - 1] ?? { name: 'nothing' };
  const alone = kill.lostFrom < kill.call ? ' alone' : '';
  return `${path} (invocation ${index}) died ${kill.when} call ${kill.call}, ${name}${alone}, ${again ? 'and was tried again' : 'and was not tried again'}`;
}

function differences(expected: Final, actual: Final): string[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    .filter((subject) => expected[subject] !== actual[subject])
    .map(
      (subject) =>
        `${subject}\n      is      ${actual[subject] ?? 'absent'}\n      and not ${expected[subject] ?? 'absent'}`,
    );
}
