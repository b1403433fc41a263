/** Requests to the API over a network that loses, delays and repeats. */
import type { Faults } from './faults.ts';
import type { Deployment } from '../../../world/deployment.ts';
import { type Identity, nodeIdentity, OPERATOR, STRANGER } from '../../../world/environment.ts';
import type { Invocation, Kernel } from '../../../world/kernel.ts';
import { routeOf } from '../../../world/requests.ts';
import type { Answer, Call, Caller } from './call.ts';

/** Told of every call that is handled, whether or not its caller hears of it. */
export type Witness = {
  serving: (call: Call, invocation: Invocation) => void;
  answered: (call: Call, answer: Answer | null, invocation: Invocation) => void;
};

const PATIENCE = 10_000;
const WHOLE_WAY = 16;

function identityOf(caller: Caller): Identity {
  switch (caller.kind) {
    case 'operator':
      return OPERATOR;
    case 'node':
      return nodeIdentity(caller.nodeId);
    case 'stranger':
      return STRANGER;
    case 'nobody':
      return null;
  }
}

export class Network {
  calls = 0;
  readonly #kernel: Kernel;
  readonly #faults: Faults;
  readonly #draw: () => number;
  readonly #deployment: Deployment;
  readonly #witness: Witness;

  constructor(kernel: Kernel, faults: Faults, draw: () => number, deployment: Deployment, witness: Witness) {
    this.#kernel = kernel;
    this.#faults = faults;
    this.#draw = draw;
    this.#deployment = deployment;
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
    const { caller, method, path, body } = call;
    const request = { method, path, body, iam: identityOf(caller) };
    const called = { handler: 'api', path: routeOf(method, path), certain: false } as const;
    // Most calls go past HTTP, which has no state; strangers and every sixteenth call take the whole way.
    const whole = caller.kind === 'stranger' || caller.kind === 'nobody' || this.calls % WHOLE_WAY === 0;
    this.#kernel.guard(
      this.#deployment
        .request(request, called, whole ? 'whole' : 'short', (self) => this.#witness.serving(call, self))
        .then(({ answer, self }) => {
          this.#witness.answered(call, answer, self);
          done(answer);
        }),
    );
  }
}
