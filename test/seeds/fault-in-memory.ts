/** Faults whose test is a pure suite: the suite is bundled again with the fault in it, and runs in this process. */
import { bundleSuites, failureOf } from '../mutation/pure-suites.mjs';
import { type Fault, snippet } from './faults.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** @returns the verdict of each, by its id */
export async function tryInMemory(root: string, faults: readonly Fault[]): Promise<Map<string, Verdict>> {
  const load = await bundleSuites(root, [...new Set(faults.map(({ test }) => test.file))]);
  const verdicts = new Map<string, Verdict>();
  for (const fault of faults) {
    const sound = await run(load, fault);
    let there = false;
    const loadFaulty = await bundleSuites(root, [fault.test.file], (file, text) => {
      if (file !== fault.file) return text;
      const faulty = text.replace(snippet(fault), () => fault.replace);
      there = faulty !== text;
      return faulty;
    });
    verdicts.set(fault.id, there ? verdictOf(sound, await run(loadFaulty, fault)) : 'not in the sources');
  }
  return verdicts;
}

/** Whether each test with the title of the fault's passes; nothing when they cannot even be loaded. */
async function run(load: Awaited<ReturnType<typeof bundleSuites>>, { test }: Fault): Promise<boolean[]> {
  let tests: ReturnType<typeof load> = [];
  if ((await failureOf(() => (tests = load()))) !== null) return [];
  const passed: boolean[] = [];
  for (const { file, title, run: body } of tests) {
    if (file === test.file && title === test.title) passed.push((await failureOf(body)) === null);
  }
  return passed;
}
