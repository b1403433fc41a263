/** How text is made harmless, measured, cut, wrapped, coloured and put into columns. */
import { describe, expect, test } from 'vitest';
import { fieldBlock, fieldRows } from '../../present/fields.ts';
import { type Column, separated, type Surface, table } from '../../present/table.ts';
import { counted, cut, displayWidth, harmlessLines, oneCell, oneLine, pad, wrap } from '../../present/text.ts';
import { paint, type Tone } from '../../present/tone.ts';
import { absoluteWhen, laterOf, relativeWhen, sayRetry, sayWhen } from '../../present/when.ts';
import { NOW } from './fleet.ts';

const ESC = '\u001b';
const screen: Surface = { width: 60, colour: false, now: NOW, fit: 'wrap' };

describe('harmless text', () => {
  test.each([
    ['colours', `${ESC}[1;31mred${ESC}[0m`, 'red'],
    ['cursor movements', `a${ESC}[2Jb${ESC}[10;20Hc`, 'abc'],
    ['a short escape', `a${ESC}cb`, 'ab'],
    ['an escape with an intermediate', `a${ESC}(Bb`, 'ab'],
    ['a C1 escape', 'a\u009b31mb', 'ab'],
    ['a title that ends with a bell', `a${ESC}]0;title\u0007b`, 'ab'],
    ['a title that ends with a string terminator', `a${ESC}]0;title${ESC}\\b`, 'ab'],
    ['a title that never ends', `a${ESC}]0;title`, 'a'],
    ['a bell and a null', 'a\u0007b\u0000c', 'abc'],
    ['marks of direction', 'a\u202eb\u2066c\u200ed\u061ce\u2028f', 'abcdef'],
  ])('has no %s', (_what, text, harmless) => {
    expect(oneLine(text)).toBe(harmless);
    expect(oneCell(text)).toBe(harmless);
    expect(harmlessLines(text)).toEqual([harmless]);
  });

  test('in one line has a space for every run of breaks and tabs, and none around it', () => {
    expect(oneLine('  a\r\n\t\nb\tc \n')).toBe('a b c');
  });

  test('in a cell writes breaks and tabs as \\n and \\t, and keeps its spaces', () => {
    expect(oneCell(' a\r\nb\rc\nd\te\tf ')).toBe(' a\\nb\\nc\\nd\\te\\tf ');
  });

  test('in lines keeps its breaks, and has spaces for tabs', () => {
    expect(harmlessLines('a\r\nb\rc\n\td  \n')).toEqual(['a', 'b', 'c', '  d', '']);
  });

  test('in cells and rows is separated by tabs and breaks of ours only', () => {
    expect(
      separated([
        ['a\tb', 'c'],
        ['d', 'e\nf'],
      ]),
    ).toBe('a\\tb\tc\nd\te\\nf');
  });
});

describe('width', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['a\u200bb', 2],
    ['漢字', 4],
    ['ひカ한', 6],
    ['🚀', 2],
    ['！', 2],
  ])('of %j is %d', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['abc def', 5, 'abc…'],
    ['abcdef', 2, 'a…'],
    ['abcdef', 1, '…'],
    ['abcdef', 0, '…'],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
    ['漢字', 2, '漢…'],
  ])('%j cut to %d is %j', (text, width, short) => {
    expect(cut(text, width)).toBe(short);
  });

  test.each([
    ['', 5, ['']],
    ['one two three', 20, ['one two three']],
    ['one two three', 7, ['one two', 'three']],
    ['one two three', 6, ['one', 'two', 'three']],
    ['abcdefghij k', 4, ['abcd', 'efgh', 'ij k']],
    ['a abcdefgh', 4, ['a', 'abcd', 'efgh']],
    ['漢字', 1, ['漢', '字']],
    ['abcd', 4, ['abcd']],
  ])('%j wrapped to %d', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });

  test('is filled with spaces on one side or the other, and never cut', () => {
    expect(pad('ab', 4)).toBe('ab  ');
    expect(pad('ab', 4, 'right')).toBe('  ab');
    expect(pad('漢', 4)).toBe('漢  ');
    expect(pad('abcdef', 4)).toBe('abcdef');
  });
});

test('one is counted in the singular, all others in the plural', () => {
  expect([counted(0, 'node'), counted(1, 'node'), counted(2, 'node'), counted(2, 'life', 'lives')]).toEqual([
    '0 nodes',
    '1 node',
    '2 nodes',
    '2 lives',
  ]);
});

describe('colour', () => {
  test.each<[Tone | undefined, string]>([
    ['bad', `${ESC}[1m${ESC}[31mx${ESC}[39m${ESC}[22m`],
    ['warn', `${ESC}[33mx${ESC}[39m`],
    ['busy', `${ESC}[36mx${ESC}[39m`],
    ['good', `${ESC}[32mx${ESC}[39m`],
    ['quiet', `${ESC}[2mx${ESC}[22m`],
    ['plain', 'x'],
    [undefined, 'x'],
  ])('of %s', (tone, painted) => {
    expect(paint('x', tone, { colour: true })).toBe(painted);
    expect(paint('x', tone, { colour: false })).toBe('x');
    expect(paint('', tone, { colour: true })).toBe('');
  });
});

describe('instants', () => {
  const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

  test('are said from now on a screen, and as they are in a file', () => {
    expect([sayWhen(at(12), NOW), sayWhen(at(0), NOW), sayWhen(at(-180), NOW), sayWhen('soon', NOW)]).toEqual([
      'in 12 s',
      '0 s ago',
      '3 min ago',
      'soon',
    ]);
    expect(relativeWhen(NOW)(at(12))).toBe(`in 12 s (${at(12)})`);
    expect(relativeWhen(NOW)('soon')).toBe('soon');
    expect(absoluteWhen(at(12))).toBe(at(12));
  });

  test('a retry is to come, due, or none', () => {
    expect([sayRetry(at(12), NOW), sayRetry(at(0), NOW), sayRetry(null, NOW), sayRetry('soon', NOW)]).toEqual([
      'retry in 12 s',
      'retry due',
      '',
      '',
    ]);
  });

  test('the later of two, of which one may be missing or none', () => {
    expect(laterOf(at(1), at(2))).toBe(at(2));
    expect(laterOf(at(2), at(1))).toBe(at(2));
    expect(laterOf(null, at(1))).toBe(at(1));
    expect(laterOf(at(1), null)).toBe(at(1));
    expect(laterOf(null, null)).toBeNull();
    expect(laterOf('soon', at(1))).toBe(at(1));
    expect(laterOf(at(1), 'soon')).toBe(at(1));
    expect(laterOf('2026-01-05T00:00:00Z', '2026-01-05T00:00:00.000Z')).toBe('2026-01-05T00:00:00Z');
  });
});

describe('a table', () => {
  const COLUMNS: readonly Column[] = [
    { title: 'ID' },
    { title: 'COUNT', align: 'right', drop: 1 },
    { title: 'MORE', drop: 2 },
    { title: 'WHY' },
  ];
  const row = (why: string, id = 'a') => [{ text: id }, { text: '7' }, { text: 'many\nmore' }, { text: why }];
  const long = 'a sentence that is longer than all that is left for it';

  test('aligns its columns, and has no spaces at the end of a line', () => {
    expect(table(COLUMNS, [row('ok'), row('', 'abc')], screen)).toBe(
      ['ID   COUNT  MORE       WHY', 'a        7  many more  ok', 'abc      7  many more'].join('\n'),
    );
  });

  test('wraps its last column, or cuts it', () => {
    const wrapped = table(COLUMNS, [row(long)], { ...screen, width: 50 });
    expect(wrapped).toBe(
      [
        'ID  COUNT  MORE       WHY',
        'a       7  many more  a sentence that is longer',
        `${' '.repeat(22)}than all that is left for it`,
      ].join('\n'),
    );
    expect(table(COLUMNS, [row(long)], { ...screen, width: 50, fit: 'cut' }).split('\n')[1]).toBe(
      'a       7  many more  a sentence that is longer t…',
    );
  });

  test('leaves out what is needed least until its last column has room for a sentence, or for what it says', () => {
    const titles = (width: number, why: string): string =>
      (table(COLUMNS, [row(why)], { ...screen, width }).split('\n')[0] ?? '').replaceAll(/ +/g, ' ');
    expect(titles(44, long)).toBe('ID COUNT MORE WHY');
    expect(titles(43, long)).toBe('ID COUNT WHY');
    expect(titles(33, long)).toBe('ID COUNT WHY');
    expect(titles(32, long)).toBe('ID WHY');
    expect(titles(1, long)).toBe('ID WHY');
    expect(titles(27, 'short')).toBe('ID COUNT MORE WHY');
    expect(titles(26, 'short')).toBe('ID COUNT WHY');
  });

  test('on the narrowest screen still has room for a sentence, or for one letter where it is cut', () => {
    expect(table([{ title: 'ID' }, { title: 'WHY' }], [[{ text: 'a' }, { text: long }]], { ...screen, width: 1 })).toBe(
      ['ID  WHY', 'a   a sentence that is', '    longer than all that', '    is left for it'].join('\n'),
    );
    const lines = table([{ title: 'ID' }, { title: 'WHY' }], [[{ text: 'a' }, { text: long }]], {
      ...screen,
      width: 1,
      fit: 'cut',
    });
    expect(lines.split('\n')[1]).toBe('a   …');
  });

  test('colours cells without moving them, and takes a row that is too short', () => {
    const painted = table(
      [{ title: 'ID' }, { title: 'N', align: 'right' }, { title: 'WHY' }],
      [[{ text: 'a', tone: 'bad' }]],
      {
        ...screen,
        colour: true,
      },
    );
    expect(painted.split('\n')[1]).toBe(`${ESC}[1m${ESC}[31ma${ESC}[39m${ESC}[22m`);
    expect(table([], [], screen)).toBe('');
  });
});

describe('fields', () => {
  const fields = [
    { label: 'Name', text: 'web' },
    { label: 'Explanation', text: 'a sentence that is wrapped here', tone: 'bad' as const },
  ];

  test('have their labels in one column, and their texts wrapped beside them', () => {
    expect(fieldBlock(fields, { width: 43, colour: false })).toBe(
      ['Name         web', 'Explanation  a sentence that is wrapped', '             here'].join('\n'),
    );
    expect(fieldBlock(fields, { width: 1, colour: false }).split('\n')).toHaveLength(3);
    expect(fieldBlock([], { width: 43, colour: false })).toBe('');
  });

  test('have quiet labels, and texts in their tone', () => {
    const [name, explanation] = fieldBlock(fields, { width: 80, colour: true }).split('\n');
    expect(name).toBe(`${ESC}[2mName${ESC}[22m         web`);
    expect(explanation).toContain(`${ESC}[1m${ESC}[31ma sentence`);
  });

  test('in a pipe are a label, a tab and a text', () => {
    expect(
      fieldRows([
        { label: 'Name', text: 'a\tb' },
        { label: 'Why', text: 'c\nd' },
      ]),
    ).toBe('Name\ta\\tb\nWhy\tc\\nd');
  });
});
