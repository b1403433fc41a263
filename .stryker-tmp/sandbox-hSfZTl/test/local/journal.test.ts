// @ts-nocheck
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { openJournal } from '../../local/aws/journal.ts';
import { dataDir } from './surroundings.ts';

const open = (file: string) => openJournal(file, (value) => z.parse(z.number(), value));

describe('the journal', () => {
  it('has after a restart what it had before', () => {
    const file = join(dataDir(), 'journal.jsonl');
    const before = open(file);
    before.put('a', 1);
    before.put('b', 2);
    before.put('a', 3);
    before.remove('b');
    expect([...open(file).entries()]).toEqual([['a', 3]]);
  });

  it('drops a last line that a kill cut off, and goes on', () => {
    const file = join(dataDir(), 'journal.jsonl');
    open(file).put('a', 1);
    appendFileSync(file, '["b",');
    const after = open(file);
    expect([...after.entries()]).toEqual([['a', 1]]);
    after.put('c', 3);
    expect(open(file).get('c')).toBe(3);
  });

  it('refuses a broken line before the last, and a value of another shape', () => {
    const broken = join(dataDir(), 'journal.jsonl');
    open(broken).put('a', 1);
    appendFileSync(broken, '["b",\n["c",3]\n');
    expect(() => open(broken)).toThrow(/line 2/);
    const other = join(dataDir(), 'journal.jsonl');
    open(other).close();
    appendFileSync(other, '["a","one"]\n');
    expect(() => open(other)).toThrow(/line 1/);
    expect(readFileSync(other, 'utf8')).toBe('["a","one"]\n');
  });

  it('does not grow with what is gone', () => {
    const file = join(dataDir(), 'journal.jsonl');
    const journal = open(file);
    for (let n = 0; n < 30_000; n += 1) {
      journal.put('a', n);
      journal.remove('a');
    }
    journal.put('a', 1);
    expect(statSync(file).size).toBeLessThan(200_000);
    expect(open(file).get('a')).toBe(1);
  });
});
