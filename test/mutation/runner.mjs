/**
 * A test runner for Stryker that stays in its process. Vitest starts a worker and loads every module for each mutant,
 * which takes a second or more, and there are thousands. Here the pure suites and the core are bundled once, and each
 * mutant is a fresh evaluation of that bundle: nothing of one mutant reaches the next, and static mutants are no exception.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { Script } from 'node:vm';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import { build } from 'esbuild';

const DOUBLE = 'test/mutation/vitest-double.mjs';

/** The suites that decide about a mutant, the quick ones first. @type {string[]} */
const SUITES = JSON.parse(readFileSync(new URL('./suites.json', import.meta.url), 'utf8'));
/** Where in that order a test file stands; -1 when it is not of these suites. @param {string} path */
const suiteOf = (path) => SUITES.findIndex((suite) => path.startsWith(suite));

/** @typedef {{ file: string; name: string; run: () => unknown }} Collected */
/** @typedef {{ activeMutant?: string; currentTestId?: string; hitCount?: number; hitLimit?: number; mutantCoverage?: any }} Stryker */

/** @param {string} root */
function testFiles(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((path) => `test/${path.split(sep).join('/')}`)
    .filter((path) => path.endsWith('.test.ts') && suiteOf(path) >= 0)
    .sort((a, b) => suiteOf(a) - suiteOf(b) || (a < b ? -1 : 1));
}

/** Every test file behind a call that names it, then what was collected. @param {string} root */
function entry(root) {
  const files = testFiles(root).map((path) => JSON.stringify(path));
  return [
    `const { collected, enter } = require('./${DOUBLE}');`,
    ...files.map((path) => `enter(${path}); require('./' + ${path});`),
    'module.exports = collected;',
  ].join('\n');
}

/** The one thing that a file knows of its place is lost in a bundle. */
const keepDirname = {
  name: 'keep-dirname',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]test[\\/].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    })),
};

/** @param {string} root */
async function bundle(root) {
  const { outputFiles } = await build({
    stdin: { contents: entry(root), resolveDir: root, sourcefile: 'pure-suites.js' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // Whatever has no state of ours is loaded once.
    external: ['@vitest/expect', 'chai', 'fast-check'],
    alias: { vitest: resolve(root, DOUBLE) },
    plugins: [keepDirname],
    logLevel: 'error',
  });
  return new Script(`(function (require, module) {${outputFiles[0].text}\n})`, { filename: 'pure-suites.js' });
}

function createRunner() {
  const root = process.cwd();
  const require = createRequire(join(root, 'package.json'));
  /** @type {Stryker} */
  const stryker = (globalThis.__stryker__ ??= {});
  /** Runs the bundle. @type {(require: NodeRequire, module: { exports: Collected[] }) => void} */
  let load = () => {};

  /** The tests, with every module evaluated anew. */
  const fresh = () => {
    /** @type {{ exports: Collected[] }} */
    const module = { exports: [] };
    load(require, module);
    /** @type {Map<string, number>} */
    const seen = new Map();
    return module.exports.map(({ file, name, run }) => {
      const times = (seen.get(`${file}#${name}`) ?? 0) + 1;
      seen.set(`${file}#${name}`, times);
      return { id: `${file}#${name}${times === 1 ? '' : ` (${times})`}`, name, fileName: join(root, file), run };
    });
  };

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async init() {
      load = (await bundle(root)).runInThisContext();
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

/** What a test says is wrong; nothing when it passes. @param {() => unknown} run */
async function failureOf(run) {
  try {
    await run();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const create = () => createRunner();
create.inject = [];
export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'pure', create)];
