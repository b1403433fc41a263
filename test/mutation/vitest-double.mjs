/**
 * What the pure suites use of vitest, without its workers: the tests are collected into a list, and `expect` is vitest's own.
 * `toMatchInlineSnapshot` is here for texts only.
 */
import { format } from 'node:util';
import { ASYMMETRIC_MATCHERS_OBJECT, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import * as chai from 'chai';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
chai.use(({ Assertion }, util) => {
  util.addMethod(Assertion.prototype, 'toMatchInlineSnapshot', function match(snapshot) {
    new Assertion(`"${this._obj}"`.trim()).toBe(dedent(snapshot));
  });
});
export const expect = Object.assign(
  (value, message) => chai.expect(value, message),
  chai.expect,
  globalThis[ASYMMETRIC_MATCHERS_OBJECT],
);

/** An inline snapshot is indented as its test is. */
function dedent(text) {
  const lines = text.split('\n');
  const indent = /^ */.exec(lines.find((line) => line.trim() !== '') ?? '')?.[0].length ?? 0;
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim();
}

/** Every test collected so far, in order: `{file, name, title, run}`. */
export const collected = [];
let file = '';
let suites = [{ name: '', before: [] }];

/** The tests that follow are of this file. */
export function enter(path) {
  file = path;
  suites = [{ name: '', before: [] }];
}

const each = (collect) => (rows) => (name, run) => {
  for (const row of rows) {
    const values = Array.isArray(row) ? row : [row];
    const places = name.match(/%[sdijfoO]/g)?.length ?? 0;
    collect(format(name, ...values.slice(0, places)), () => run(...values));
  }
};

export function describe(name, body) {
  suites.push({ name, before: [] });
  body();
  suites.pop();
}
describe.each = each(describe);

export function test(name, run) {
  const around = [...suites];
  collected.push({
    file,
    title: name,
    name: [...around.map((suite) => suite.name), name].join(' ').trim(),
    run: async () => {
      for (const { before } of around) for (const hook of before) await hook();
      await run();
    },
  });
}
test.each = each(test);
test.skipIf = (skip) => (skip ? () => undefined : test);
export const it = Object.assign((name, run) => test(name, run), { each: test.each });

export const beforeEach = (hook) => suites.at(-1).before.push(hook);
