/** A story: who is there, who does what when, and how long it is told. */
import { Agent, type NodePlan } from './agent.ts';
import { finalState, type Final } from './final.ts';
import { type Fate, Guests } from './guests.ts';
import { type Invoked, SECOND, START, type Victim, Stage } from './stage.ts';

export type Step = { at: number } & (
  | { call: readonly [method: string, path: string, body?: unknown] }
  | { unplug: string }
  | { plug: string }
  | { status: readonly [nodeId: string, status: string] }
  | { machine: readonly [nodeId: string, kind: 'stopped' | 'running' | 'terminated' | 'deregistered'] }
  | { recover: true }
  | { do: (stage: Stage) => Promise<void> }
);

export type Story = {
  name: string;
  /** The first report of each node comes at this second; nodes with VMs have their fates. */
  nodes: readonly (NodePlan & { at?: number; vms?: Record<string, Fate[]> })[];
  steps: readonly Step[];
  /** Seconds until the end is looked at. */
  lasts: number;
};

export type Told = {
  final: Final;
  faults: readonly string[];
  invocations: readonly Invoked[];
  logged: readonly string[];
};

/** Tells a story, with at most one death in it. */
export async function tell(story: Story, victim: Victim | null): Promise<Told> {
  const stage = new Stage(victim);
  const agents = new Map<string, Agent>();
  for (const { at = 0, vms, ...given } of story.nodes) {
    // Plans are used up as the story goes.
    const plan = structuredClone(given);
    const guests = vms === undefined ? null : new Guests(stage, plan.nodeId, structuredClone(vms));
    const agent = new Agent(stage, plan, guests);
    agents.set(plan.nodeId, agent);
    stage.after(at * SECOND, () => agent.report());
  }
  const agentOf = (nodeId: string): Agent => {
    const agent = agents.get(nodeId);
    if (agent === undefined) throw new Error(`${story.name}: no agent on ${nodeId}`);
    return agent;
  };
  for (const step of story.steps) {
    stage.after(step.at * SECOND, async () => {
      if ('call' in step) await stage.operator(...step.call);
      else if ('unplug' in step) agentOf(step.unplug).unplug();
      else if ('plug' in step) agentOf(step.plug).plug();
      else if ('status' in step) await stage.status(...step.status);
      else if ('machine' in step) await stage.machine(...step.machine);
      else if ('recover' in step) await stage.recover();
      else await step.do(stage);
    });
  }
  await stage.runTo(START + story.lasts * SECOND);
  const unknown = stage.logged.filter((key) => !stage.history.knows(key.slice(key.lastIndexOf('Z#') + 2)));
  if (unknown.length > 0) stage.history.fault(`the log has what never happened: ${unknown.join(', ')}`);
  return {
    final: await finalState(stage),
    faults: stage.history.faults,
    invocations: stage.invocations,
    logged: stage.logged,
  };
}
