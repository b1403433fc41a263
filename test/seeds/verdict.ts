/** What came of a fault: only the first is good. */
export type Verdict = 'caught' | 'survived' | 'did not run' | 'not in the sources' | 'not green without the fault';

/** @param said what each test with the fault's title came to, without the fault and with it: true when it passed */
export function verdictOf(sound: readonly boolean[], faulty: readonly boolean[]): Verdict {
  if (sound.length === 0 || faulty.length === 0) return 'did not run';
  if (sound.includes(false)) return 'not green without the fault';
  return faulty.includes(true) ? 'survived' : 'caught';
}
