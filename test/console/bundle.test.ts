import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const source = resolve(import.meta.dirname, '../../console');
const BYTES_MAX = 150 * 1024;

describe('the built page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdoff-console-'));
  beforeAll(() => {
    execFileSync(process.execPath, [join(source, 'build.mjs'), folder]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is at most 150 KB, gzipped, everything together', () => {
    const bytes = readdirSync(folder).map((name) => gzipSync(readFileSync(join(folder, name))).length);
    expect(bytes.length).toBeGreaterThanOrEqual(4);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(BYTES_MAX);
  });

  test('asks nobody else for anything, and has nothing inline', () => {
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]* src="\/)|<style|\son\w+=|style=/);
    for (const name of ['index.html', 'console.css'])
      expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/(?:https?:)?\/\/\w|@import|url\(/);
  });

  test('no text can become markup: nothing in its source writes any', () => {
    const files = readdirSync(source).filter((name) => /\.tsx?$/.test(name));
    expect(files.length).toBeGreaterThan(10);
    const writing =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|DOMParser|createContextualFragment|\beval\b|new Function/;
    expect(files.filter((name) => writing.test(readFileSync(join(source, name), 'utf8')))).toEqual([]);
  });
});
