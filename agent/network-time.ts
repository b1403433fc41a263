/**
 * What time it is by the control plane's answers, where the wall clock of this host is wrong: a request that is signed
 * with a time more than 5 min off is refused (AWS, "Signature Version 4 signing process"). It goes on by the steady clock.
 */
/** Half of what a signature allows. */
const WRONG_FROM_MS = 150_000;

export class NetworkTime {
  readonly #steadyMs: () => number;
  readonly #wallMs: () => number;
  /** What the steady clock is behind the network; null before an answer has said what time it is. */
  #ahead: number | null = null;

  constructor(steadyMs: () => number, wallMs: () => number) {
    this.#steadyMs = steadyMs;
    this.#wallMs = wallMs;
  }

  /** The `Date` of an answer that has just come; true when that is news: what was sent before was signed with a wrong time. */
  hear(date: number | null): boolean {
    if (date === null) return false;
    const before = this.now();
    this.#ahead = date - this.#steadyMs();
    return Math.abs(before - this.now()) > WRONG_FROM_MS;
  }

  /** To sign with: the wall clock while it is right enough, else what the answers say. */
  now(): number {
    const wall = this.#wallMs();
    if (this.#ahead === null) return wall;
    const network = this.#steadyMs() + this.#ahead;
    return Math.abs(wall - network) > WRONG_FROM_MS ? network : wall;
  }

  /** For people; null while the clock is right. */
  trouble(): string | null {
    if (this.#ahead === null) return null;
    const off = this.#wallMs() - (this.#steadyMs() + this.#ahead);
    if (Math.abs(off) <= WRONG_FROM_MS) return null;
    return `its clock is ${sayLength(Math.abs(off))} ${off > 0 ? 'ahead' : 'behind'}; set its time (chrony)`;
  }
}

/** Roughly, since each change of the words is a write: hours, else minutes. */
function sayLength(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
