/** What a gate is: one thing that a ready node may still wait for (DESIGN section 2b). */
import type { WaitingCode } from '../contract/words.ts';
import type { GroupView } from '../group/view.ts';
import type { Instant } from '../kit/time.ts';
import type { NodeRecord } from '../node/record.ts';

/**
 * When a gate is asked: at the start (Idle → StagedUpdate), before activation (StagedUpdate → PerformedUpdate), and of a
 * node that is activated and has not been told to reboot.
 */
export type Stage = 'start' | 'activation' | 'reboot';

/** What can be judged from the node's own record. */
export type OwnQuestion = {
  node: NodeRecord;
  /** The version it would take; null: the agent has not named it. */
  version: string | null;
  stage: Stage;
  now: Instant;
};
export type Question = OwnQuestion & { group: GroupView };

/** A gate that is closed: until when, where that is known, and why, as a sentence without its full stop. */
export type Closed = { until: Instant | null; words: string };
export type Waiting = Closed & { code: WaitingCode };

type GateOf<Q> = {
  code: WaitingCode;
  /** When it is asked. */
  at: readonly Stage[];
  /** A version gate: closed before activation it ends the attempt, and nothing is counted. */
  endsAttempt: boolean;
  /** What is being staged is withdrawn at once, too, not only judged when it is staged. */
  recalls?: true;
  /** The whole group stands still while it is closed: who waits staged for it keeps its slot. */
  keepsSlot: boolean;
  ask: (question: Q) => Closed | null;
};
export type Gate = GateOf<Question>;
/** A gate that needs only the node: while it is closed the node is not in its group's queue. */
export type OwnGate = GateOf<OwnQuestion>;
