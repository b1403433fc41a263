/**
 * A test runner for Stryker that stays in its process. Vitest starts a worker and loads every module for each mutant,
 * which takes a second or more, and there are thousands. Here the pure suites and the core are bundled once, and each
 * mutant is a fresh evaluation of that bundle: nothing of one mutant reaches the next, and static mutants are no exception.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import { bundleSuites, failureOf } from './pure-suites.mjs';

/** The suites that decide about a mutant, the quick ones first. @type {string[]} */
const SUITES = JSON.parse(readFileSync(new URL('./suites.json', import.meta.url), 'utf8'));
/** Where in that order a test file stands; -1 when it is not of these suites. @param {string} path */
const suiteOf = (path) => SUITES.findIndex((suite) => path.startsWith(suite));

/** @typedef {import('./pure-suites.d.mts').Collected} Collected */
/** @typedef {{ activeMutant?: string; currentTestId?: string; hitCount?: number; hitLimit?: number; mutantCoverage?: any }} Stryker */

/** @param {string} root */
function testFiles(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((path) => `test/${path.split(sep).join('/')}`)
    .filter((path) => path.endsWith('.test.ts') && suiteOf(path) >= 0)
    .sort((a, b) => suiteOf(a) - suiteOf(b) || (a < b ? -1 : 1));
}

function createRunner() {
  const root = process.cwd();
  /** @type {Stryker} */
  const stryker = (globalThis.__stryker__ ??= {});
  /** Evaluates the bundle. @type {() => Collected[]} */
  let load = () => [];

  /** The tests, with every module evaluated anew. */
  const fresh = () => {
    /** @type {Map<string, number>} */
    const seen = new Map();
    return load().map(({ file, name, run }) => {
      const times = (seen.get(`${file}#${name}`) ?? 0) + 1;
      seen.set(`${file}#${name}`, times);
      return { id: `${file}#${name}${times === 1 ? '' : ` (${times})`}`, name, fileName: join(root, file), run };
    });
  };

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async init() {
      load = await bundleSuites(root, testFiles(root));
    },

    async dryRun() {
      stryker.activeMutant = undefined;
      stryker.hitCount = undefined;
      stryker.mutantCoverage = undefined;
      const tests = [];
      for (const { id, name, fileName, run } of fresh()) {
        const began = performance.now();
        stryker.currentTestId = id;
        const failure = await failureOf(run);
        stryker.currentTestId = undefined;
        const timeSpentMs = performance.now() - began;
        const said =
          failure === null ? { status: TestStatus.Success } : { status: TestStatus.Failed, failureMessage: failure };
        tests.push({ id, name, fileName, timeSpentMs, ...said });
      }
      return { status: DryRunStatus.Complete, tests, mutantCoverage: stryker.mutantCoverage };
    },

    async mutantRun({ activeMutant, testFilter, hitLimit }) {
      stryker.activeMutant = activeMutant.id;
      stryker.hitCount = 0;
      stryker.hitLimit = hitLimit;
      const wanted = testFilter === undefined ? null : new Set(testFilter);
      let nrOfTests = 0;
      let tests = [];
      const broken = await failureOf(() => {
        tests = fresh();
      });
      if (broken !== null)
        return { status: MutantRunStatus.Killed, killedBy: ['loading'], failureMessage: broken, nrOfTests };
      for (const { id, run } of tests.filter((test) => wanted === null || wanted.has(test.id))) {
        nrOfTests += 1;
        const failureMessage = await failureOf(run);
        if ((stryker.hitCount ?? 0) > hitLimit)
          return { status: MutantRunStatus.Timeout, reason: 'it went on for ever' };
        if (failureMessage !== null)
          return { status: MutantRunStatus.Killed, killedBy: [id], failureMessage, nrOfTests };
      }
      return { status: MutantRunStatus.Survived, nrOfTests };
    },
  };
}

const create = () => createRunner();
create.inject = [];
export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'pure', create)];
