/** A cause in a few words: short enough for a line of an index, and the same for all that have it. */
import { headOf } from './text.ts';

const CAUSE_MAX = 120;

/** `LaunchFailed: disk full`: a word of the contract and the first line of what was said with it. */
export function sayCause(code: string | null, message: string | null = null): string {
  const line = message?.split('\n').find((text) => text.trim() !== '') ?? '';
  return headOf([code ?? '', line.trim()].filter((part) => part !== '').join(': '), CAUSE_MAX);
}
