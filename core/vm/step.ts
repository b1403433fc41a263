/** What the parts of a decision about a VM hand to each other. */
import type { EndCause } from '../contract/words.ts';
import type { Draw, Fact } from '../decision/fact.ts';
import type { Duration, Instant } from '../kit/time.ts';
import type { VmRecord } from './record.ts';

export type VmStep = { vm: VmRecord; facts: Fact[] };
export type VmTime = { now: Instant; draw: Draw };

export const same = (vm: VmRecord): VmStep => ({ vm, facts: [] });

/** One step after the other, each from where the one before led. */
export const inTurn = (vm: VmRecord, ...steps: readonly ((vm: VmRecord) => VmStep)[]): VmStep =>
  steps.reduce<VmStep>((done, step) => {
    const next = step(done.vm);
    return { vm: next.vm, facts: [...done.facts, ...next.facts] };
  }, same(vm));

export const note = (
  type: Extract<Fact, { kind: 'event' }>['type'],
  message: string,
  severity: 'info' | 'warning' = 'info',
): Fact => ({
  kind: 'event',
  type,
  severity,
  message,
});

/** What a host or the control plane says of why an instance ended, or is to end. */
export type Evidence = { cause: EndCause; message: string | null; console: string | null };
/** `ran`: how long it had been Running (null: never); `byItself`: its host says that nobody had to end it. */
export type End = Evidence & { phase: 'Succeeded' | 'Failed'; ran: Duration | null; byItself?: boolean };

/** A next instance, by the strategy and not before that instant. */
export const plan = (vm: VmRecord, notBefore: Instant): VmRecord => ({ ...vm, pendingStart: { notBefore } });
