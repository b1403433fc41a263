/** What the control plane wants of this node, as far as this agent understands it. */
import type { DesiredNode } from '../../core/contract/agent-answers.ts';
import type { Prompt } from '../host/listing.ts';
import type { AgentDrainPlan } from './drain-record.ts';
import type { AgentMonitorPlan } from './monitor-record.ts';

/** The desired state as it was answered: its times are lengths. */
export type DesiredStep = Pick<DesiredNode, 'state' | 'version' | 'generation'> & {
  readonly drain?: AgentDrainPlan | null;
  readonly monitor?: AgentMonitorPlan | null;
} & Partial<Pick<DesiredNode, 'withinSeconds' | 'soakSeconds' | 'beginWithinSeconds' | 'pin'>>;

/** The same with its times as instants of the steady clock. Null: the control plane is too old to say. */
export type Wanted = Pick<DesiredStep, 'state' | 'version' | 'generation' | 'drain' | 'monitor'> & {
  /** The step's limit, less a margin: so that the node says itself what went wrong, before anybody has to guess. */
  readonly until?: number | null;
  readonly beginBefore?: number | null;
  readonly soakMs?: number | null;
  readonly pin?: string | null;
};
const MARGIN_MS_MAX = 60_000;
const MARGIN_SHARE = 1 / 5;

/** @param sentAt when the report was sent whose answer this is: everything is counted from there */
export function wantedOf(desired: DesiredStep, sentAt: number): Wanted {
  const { withinSeconds, soakSeconds, beginWithinSeconds, pin, ...rest } = desired;
  const within = withinSeconds === undefined ? null : withinSeconds * 1000;
  return {
    ...rest,
    until: within === null ? null : sentAt + within - Math.min(MARGIN_MS_MAX, within * MARGIN_SHARE),
    beginBefore: beginWithinSeconds === undefined ? null : sentAt + beginWithinSeconds * 1000,
    soakMs: soakSeconds === undefined ? null : soakSeconds * 1000,
    pin: pin ?? null,
  };
}

export type NodeAnswer = {
  readonly api: string;
  readonly desired: DesiredStep;
  readonly reportEverySeconds: number;
  /** Whether the list of what should run here is another than this host acted on; null: the control plane is too old to say. */
  readonly listing: Prompt | null;
  /** There: the leases of all VMs here are renewed. */
  readonly leaseSeconds?: number;
};
