/** Situations that a node can be in, each reached by what happens to it. */
import type { NodeRecord } from '../../core/node/record.ts';
import { crashedAt, iso, NodeLife, nodeAt, UPDATED } from './life.ts';

export const soon = (seconds: number, wait: string): string => `in ${wait} (at ${iso(seconds)})`;

export const withCheck = (updateCheck: NonNullable<NodeRecord['status']>['updateCheck']): NodeLife => {
  const life = new NodeLife();
  life.report({ updateCheck });
  return life;
};

export const changed = (life: NodeLife, more: Partial<NodeRecord>): NodeLife => {
  life.node = { ...life.node, ...more };
  return life;
};

export const held = (life: NodeLife): NodeLife => {
  life.send({ kind: 'hold', by: 'ann' });
  return life;
};

export const asked = (): NodeLife => {
  const life = nodeAt('Idle');
  life.start(false);
  return life;
};

/** Staged, and kept from going on by a pause, for which it keeps its slot. */
export const stagedInPause = (): NodeLife => {
  const life = nodeAt('StagedUpdate');
  life.paused = true;
  life.report();
  return life;
};

/** Staged, and kept from going on by VMs. */
export const stagedForVms = (count: number): NodeLife => {
  const life = nodeAt('StagedUpdate');
  life.blockers = Array.from({ length: count }, (_none, index) => `vm-${index + 1}`);
  life.report();
  return life;
};

export const soaking = (): NodeLife => {
  const life = nodeAt('MonitoringUpdate');
  life.report(UPDATED);
  return life;
};

export const soaked = (): NodeLife => {
  const life = soaking();
  life.to(120).report(UPDATED);
  return life;
};

export const waiting = (): NodeLife => {
  const life = crashedAt('StagedUpdate');
  life.to(1).report();
  return life;
};

export const again = (life: NodeLife): NodeLife =>
  changed(life, { crash: { ...life.node.crash, count: 3, lastMessage: null } });

export const rolledBack = (): NodeLife => {
  const life = nodeAt('RebootedIntoUpdate');
  life.report({ bootId: 'b2' });
  life.to(5).report({ bootId: 'b2' });
  return life;
};

export const late = (life: NodeLife, seconds: number): NodeLife => {
  life.to(seconds).due();
  return life;
};

export const failedOnce = ' Crashed once, last Broken on the way to StagedUpdate (it broke).';
