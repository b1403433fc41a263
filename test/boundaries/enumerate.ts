/** Kills each path of a story at each of its external calls, and compares how the story ends. */
import type { Final } from './final.ts';
import type { Kill } from './process.ts';
import { type Story, tell, type Told } from './story.ts';
import type { Invocation, Victim } from './world.ts';

/** A path: what a handler did in one invocation of the story, the first that made just these calls. */
export type Path = { story: string; handler: string; path: string; calls: readonly string[]; kills: number };

export type Enumerated = { paths: Path[]; failures: string[] };

export async function enumerate(story: Story): Promise<Enumerated> {
  const undisturbed = await tell(story, null);
  const failures = undisturbed.faults.map((fault) => `${story.name}, undisturbed: ${fault}`);
  const paths: Path[] = [];
  const seen = new Set<string>();
  for (const [index, invocation] of undisturbed.invocations.entries()) {
    const key = JSON.stringify([invocation.path, invocation.calls]);
    if (seen.has(key) || invocation.calls.length === 0) continue;
    seen.add(key);
    const victims = victimsOf(invocation, index);
    let without: Told | null = null;
    for (const victim of victims) {
      const told = await tell(story, victim);
      const effects = told.invocations[index]?.effects ?? [];
      // A person who got no answer and does not ask again: what was not written was not asked for.
      const asked = victim.again || subjectOf(invocation) === null || effects.includes(subjectOf(invocation) ?? '');
      if (!asked) without ??= await tell(story, { invocation: index, kill: NEVER_BEGUN, again: false });
      const expected = asked ? undisturbed.final : (without ?? undisturbed).final;
      const what = `${story.name}: ${sayVictim(invocation, victim)}`;
      failures.push(...told.faults.map((fault) => `${what}: ${fault}`));
      failures.push(...differences(expected, told.final).map((difference) => `${what}: ${difference}`));
    }
    const { handler, path } = invocation;
    paths.push({ story: story.name, handler, path, calls: invocation.calls.map(({ name }) => name), kills: victims.length });
  }
  return { paths, failures };
}

const NEVER_BEGUN: Kill = { call: 1, when: 'before', lostFrom: 1 };

/** Before and after each call; and where calls were under way together, each write of them alone. */
function victimsOf({ calls, certain }: Invocation, invocation: number): Victim[] {
  const kills = calls.flatMap(({ batch, writes }, at): Kill[] => {
    const call = at + 1;
    return [
      { call, when: 'before', lostFrom: call },
      { call, when: 'after', lostFrom: call },
      ...(writes && batch < call ? [{ call, when: 'after' as const, lostFrom: batch }] : []),
    ];
  });
  const tries = certain ? [true] : [true, false];
  return kills.flatMap((kill) => tries.map((again) => ({ invocation, kill, again })));
}

/** What an operator's call writes first about its own subject; null for everything that nobody asked for. */
function subjectOf({ handler, path }: Invocation): string | null {
  const kind = /^(?:POST|PUT|DELETE) \/v1\/(node|vm|group)s/.exec(path)?.[1];
  return handler === 'api' && kind !== undefined ? `DynamoDB UpdateItem (${kind})` : null;
}

function sayVictim({ path, calls }: Invocation, { invocation, kill, again }: Victim): string {
  const { name } = calls[kill.call - 1] ?? { name: 'nothing' };
  const alone = kill.lostFrom < kill.call ? ' alone' : '';
  return `${path} (invocation ${invocation}) died ${kill.when} call ${kill.call}, ${name}${alone}, ${again ? 'and was tried again' : 'and was not tried again'}`;
}

function differences(expected: Final, actual: Final): string[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    .filter((subject) => expected[subject] !== actual[subject])
    .map((subject) => `${subject}\n      is      ${actual[subject] ?? 'absent'}\n      and not ${expected[subject] ?? 'absent'}`);
}
