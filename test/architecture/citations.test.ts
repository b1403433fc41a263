/** Nothing that is cited leads nowhere: rules of docs/design.md, facts, links of the documentation, files it names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const SELF = 'test/architecture/citations.test.ts';
const FOLDERS = 'agent,bench,cli,client,console,core,docs,functions,infra,local,present,test,world';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const under = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file))
    : [];
const pages = [...readdirSync(root), ...under('docs')].filter((file) => file.endsWith('.md'));
const sources = FOLDERS.split(',')
  .flatMap(under)
  .filter((file) => /\.(?:ts|mjs)$/.test(file) && file !== SELF);
const texts = [...pages, ...sources, '.dependency-cruiser.cjs'];

/** Headings of a page as they are numbered: `2`, `2b`, `2.4`; a lettered one stands below its section: `1.B`. */
function sectionsOf(page: string): Set<string> {
  const numbers = new Set<string>();
  let above = '';
  for (const [, marks, number] of page.matchAll(/^(#{2,3}) (\d+[a-z]?(?:\.\d+)?|[A-Z])(?=[. ])/gm)) {
    if (marks === '##') above = number ?? '';
    numbers.add(marks === '###' && /^[A-Z]$/.test(number ?? '') ? `${above}.${number}` : (number ?? ''));
  }
  return numbers;
}

/** Section → the numbers of its rules. */
function rulesOf(page: string): Map<string, Set<string>> {
  return new Map(
    page.split(/^(?=## )/m).map((part) => {
      const section = /^## (\d+[a-z]?)\. /.exec(part)?.[1] ?? '';
      return [section, new Set([...part.matchAll(/^(\d+)\. /gm)].map(([, rule]) => rule ?? ''))];
    }),
  );
}

/** A citation may be broken over two lines of a comment. */
const joined = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');
const NUMBERS = String.raw`\d+[a-z]?(?:(?:, | and | to )\d+[a-z]?)*`;
const DESIGN_CITED = new RegExp(String.raw`DESIGN,? sections? (${NUMBERS})(?: rules? (${NUMBERS}))?`, 'g');
const FACTS_CITED = /facts\/([\w-]+\.md),? section (\d+(?:\.(?:\d+|[A-Z]))?)/g;
const numbersIn = (list: string | undefined): string[] => list?.match(/\d+[a-z]?/g) ?? [];

/** Citations of the specification in a text that lead nowhere, each as it is written. */
function lostRules(text: string, design: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...joined(text).matchAll(DESIGN_CITED)].flatMap(([whole, sections, rules]) => {
    const known = numbersIn(sections).map((section) => design.get(section));
    const right = known.every((it) => it !== undefined);
    return right && numbersIn(rules).every((rule) => known.some((it) => it?.has(rule) ?? false)) ? [] : [whole];
  });
}

/** Citations of facts that lead nowhere. */
function lostFacts(text: string): string[] {
  return [...joined(text).matchAll(FACTS_CITED)].flatMap(([whole, file = '', section = '']) => {
    const path = `docs/facts/${file}`;
    return existsSync(join(root, path)) && sectionsOf(read(path)).has(section) ? [] : [whole];
  });
}

/** The anchors of a page's headings, as Markdown viewers make them. */
const anchorsOf = (page: string): Set<string> =>
  new Set(
    [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

/** Links of a page to files and headings that are not there. Addresses outside the repository are left alone. */
function lostLinks(page: string, text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g)].flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return [link];
    return anchor !== undefined && !anchorsOf(read(target)).has(anchor) ? [link] : [];
  });
}

/** Files of the repository that a page names and that are not there; `*` and `<name>` stand for any. */
function lostFiles(text: string): string[] {
  const named = text.matchAll(
    new RegExp(`\\b(?:${FOLDERS.replaceAll(',', '|')})/[\\w./-]+\\.(?:ts|mjs|json|md|sh)\\b`, 'g'),
  );
  return [...new Set([...named].map(([path]) => path))].filter((path) => !existsSync(join(root, path)));
}

const lostIn = (files: readonly string[], lost: (text: string, file: string) => string[]): string[] =>
  files.flatMap((file) => lost(read(file), file).map((it) => `${file}: ${it}`));

describe('what is cited is there', () => {
  const design = rulesOf(read('docs/design.md'));

  test('the specification has its sections and rules', () => {
    expect([...design.keys()].filter((it) => it !== '')).toEqual([
      '1',
      '2',
      '2b',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
    ]);
    expect(design.get('2')?.size).toBeGreaterThanOrEqual(10);
    expect(design.get('3')?.size).toBeGreaterThanOrEqual(11);
  });

  test('sections and rules of docs/design.md', () => {
    expect(lostIn(texts, (text) => lostRules(text, design))).toEqual([]);
  });

  test('sections of docs/facts', () => {
    expect(lostIn(texts, lostFacts)).toEqual([]);
  });

  test('reports of users that the facts list, by their numbers', () => {
    const facts = read('docs/facts/bottlerocket-updates.md')
      .replaceAll(/, (?=#)|PR(?=#)/g, (it) => (it === 'PR' ? 'BU' : ', BU'))
      .replaceAll('BU BU', 'BU');
    const citing = texts.filter((file) => !file.startsWith('docs/facts/'));
    expect(lostIn(citing, (text) => (text.match(/\bBU#\d+/g) ?? []).filter((id) => !facts.includes(id)))).toEqual([]);
  });

  test('links of the documentation', () => {
    expect(lostIn(pages, (text, file) => lostLinks(file, text))).toEqual([]);
  });

  test('files that the documentation names', () => {
    expect(lostIn(pages, lostFiles)).toEqual([]);
  });
});

describe('what leads nowhere is found', () => {
  const design = new Map([
    ['2', new Set(['1', '2'])],
    ['3', new Set<string>()],
  ]);

  test.each([
    ['/** As DESIGN section 2 rule 2 says. */', []],
    ['DESIGN section 2 rule 3', ['DESIGN section 2 rule 3']],
    ['DESIGN sections 2 and 4', ['DESIGN sections 2 and 4']],
    ['(DESIGN section\n * 9)', ['DESIGN section 9']],
  ])('%j', (text, lost) => {
    expect(lostRules(text, design)).toEqual(lost);
  });

  test('a section of a fact, a link, a heading and a file', () => {
    expect(lostFacts('facts/aws-services.md section 99')).toEqual(['facts/aws-services.md section 99']);
    expect(lostFacts('facts/aws-services.md, section 1')).toEqual([]);
    expect(lostLinks('docs/a.md', '[a](gone.md) [b](design.md#gone) [c](design.md#2-nodes)')).toEqual([
      'gone.md',
      'design.md#gone',
    ]);
    expect(lostFiles('`test/gone.test.ts` and test/architecture/tidy.test.ts')).toEqual(['test/gone.test.ts']);
  });
});
