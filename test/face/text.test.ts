import { describe, expect, it } from 'vitest';
import { cut, displayWidth, harmlessLines, oneLine, wrap } from '../../present/text.ts';
import { sayWhen } from '../../present/when.ts';
import { NOW } from './fleet.ts';

describe('instants on a screen', () => {
  it.each([
    ['2026-01-05T00:10:12.000Z', 'in 12 s'],
    ['2026-01-05T00:10:00.000Z', '0 s ago'],
    ['2026-01-05T00:06:00.000Z', '4 min ago'],
    ['2026-01-05T03:30:00.000Z', 'in 3 h 20 min'],
    ['later', 'later'],
  ])('%s reads %s', (at, text) => expect(sayWhen(at, NOW)).toBe(text));
});

describe("text that came from an agent or a guest's console", () => {
  it.each([
    ['a colour', 'a\u001b[31mb\u001b[0mc', 'abc'],
    ['a cleared screen', '\u001b[2J\u001b[Hgone', 'gone'],
    ['a window title', '\u001b]0;pwned\u0007x', 'x'],
    ['a line break', 'one\r\ntwo', 'one two'],
    ['a bell and a backspace', 'a\u0007\u0008b', 'ab'],
    ['a C1 control', 'a\u009b31mb', 'ab'],
    ['a right-to-left override', 'a\u202eb', 'ab'],
  ])('cannot command the terminal with %s', (_what, text, harmless) => expect(oneLine(text)).toBe(harmless));

  it('keeps its lines where lines are wanted', () => {
    expect(harmlessLines('one\n\u001b[1mtwo\u001b[0m\r\nthree')).toEqual(['one', 'two', 'three']);
  });

  it('is measured as it is seen', () => {
    expect(displayWidth('漢字')).toBe(4);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(cut('漢字漢字', 5)).toBe('漢字…');
  });

  it('is wrapped at spaces, and a word too long for a line inside it', () => {
    expect(wrap('to be or not to be', 7)).toEqual(['to be', 'or not', 'to be']);
    expect(wrap('abcdefghij k', 4)).toEqual(['abcd', 'efgh', 'ij k']);
    expect(wrap('', 10)).toEqual(['']);
  });
});
