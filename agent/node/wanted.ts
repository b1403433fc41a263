/** What the control plane wants of this node, as far as this agent understands it. */
import type { DesiredNode } from '../../core/contract/agent-answers.ts';
import type { AgentDrainPlan } from './drain-record.ts';
import type { AgentMonitorPlan } from './monitor-record.ts';

export type Wanted = Pick<DesiredNode, 'state' | 'version' | 'generation'> & {
  readonly drain?: AgentDrainPlan | null;
  readonly monitor?: AgentMonitorPlan | null;
};
export type NodeAnswer = { readonly api: string; readonly desired: Wanted; readonly reportEverySeconds: number };
