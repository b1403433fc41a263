/** Requests to the API over a network that loses, delays and repeats. */
import type { Faults } from './faults.ts';
import type { Invocation, Kernel } from './kernel.ts';
import type { Answer, Call } from './call.ts';
import type { Plane } from './plane.ts';

/** Told of every call that is handled, whether or not its caller hears of it. */
export type Witness = {
  serving: (call: Call, invocation: Invocation) => void;
  answered: (call: Call, answer: Answer | null, invocation: Invocation) => void;
};

const PATIENCE = 10_000;

export class Network {
  calls = 0;
  readonly #kernel: Kernel;
  readonly #faults: Faults;
  readonly #draw: () => number;
  readonly #plane: Plane;
  readonly #witness: Witness;

  constructor(kernel: Kernel, faults: Faults, draw: () => number, plane: Plane, witness: Witness) {
    this.#kernel = kernel;
    this.#faults = faults;
    this.#draw = draw;
    this.#plane = plane;
    this.#witness = witness;
  }

  /** @param heard null when there was no answer */
  send(call: Call, heard: (answer: Answer | null) => void): void {
    const faults = this.#faults;
    if (faults.strikes('request lost')) {
      this.#kernel.in(PATIENCE, () => heard(null));
      return;
    }
    const wait = faults.strikes('request late') ? this.#draw() * 90_000 : 5 + this.#draw() * 40;
    if (wait > PATIENCE) {
      this.#kernel.in(wait, () => this.#handle(call, () => undefined));
      this.#kernel.in(PATIENCE, () => heard(null));
      return;
    }
    this.#kernel.in(wait, () =>
      this.#handle(call, (answer) => {
        if (answer === null || faults.strikes('answer lost')) this.#kernel.in(PATIENCE, () => heard(null));
        else heard(answer);
      }),
    );
    if (faults.strikes('request twice'))
      this.#kernel.in(wait + this.#draw() * 120_000, () => this.#handle(call, () => undefined));
  }

  #handle(call: Call, done: (answer: Answer | null) => void): void {
    this.calls += 1;
    this.#kernel.guard(
      this.#plane.request(
        call,
        (self) => this.#witness.serving(call, self),
        (answer, self) => {
          this.#witness.answered(call, answer, self);
          done(answer);
        },
      ),
    );
  }
}
