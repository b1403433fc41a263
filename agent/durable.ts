/** Files that survive a kill and a power cut: written aside, flushed, renamed, and the directory flushed. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from './failure.ts';

/** Replaces a file so that a reader, after any crash, finds the old text or the new one and nothing between. */
export function writeDurably(file: string, text: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  const aside = `${file}.new`;
  const fd = openSync(aside, 'w', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(aside, file);
  flushFolder(folder);
}

/** Removes a file; one that is not there is no error. */
export function removeDurably(file: string): void {
  rmSync(file, { force: true });
  flushFolder(dirname(file));
}

/** Makes a created, renamed or removed name in a directory last. */
export function flushFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The text of a file, or null when there is none; any other failure is thrown. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
