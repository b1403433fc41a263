/** One of several processes that try to take the same lock at the same moment (lock.test.ts). */
import { takeLock } from '../../agent/lock.ts';
import { AgentError } from '../../agent/failure.ts';

let held: { release(): void } | null = null;

function take(dir: string): string {
  try {
    held = takeLock(dir);
    return 'held';
  } catch (error) {
    return error instanceof AgentError ? error.code : String(error);
  }
}

process.on('message', (message) => {
  if (message === 'release') {
    held?.release();
    held = null;
    process.send?.('released');
  } else process.send?.(take(String(message)));
});
process.send?.('ready');
