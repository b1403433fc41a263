/** Situations that a VM can be in, each reached by what happens to it. */
import { at, declared, HOST, iso, running, type VmLife } from './scene.ts';

export const soon = (seconds: number, wait: string): string => `in ${wait} (at ${iso(seconds)})`;

export const failed = (life = declared('Always')): VmLife => {
  life.failEarly();
  return life;
};

export const unstable = (): VmLife => {
  const life = running('Always');
  life.report('Failed', { cause: 'GuestPanic' });
  return life;
};

export const ended = (strategy: 'Once' | 'RerunOnFailure' | 'Manual', phase: 'Succeeded' | 'Failed'): VmLife => {
  const life = running(strategy);
  life.report(phase);
  return life;
};

export const stopping = (): VmLife => {
  const life = running('Always');
  life.stop();
  return life;
};

export const restarting = (): VmLife => {
  const life = running('Always');
  life.restart();
  return life;
};

export const scheduled = (): VmLife => {
  const life = declared('Always');
  life.report('Scheduled');
  return life;
};

export const timedOut = (): VmLife => {
  const life = scheduled();
  life.wait(300);
  return life;
};

export const deleting = (life: VmLife): VmLife => {
  life.send({ kind: 'delete', force: false });
  return life;
};

export const silent = (): VmLife => {
  const life = running('Always');
  life.send({ kind: 'hostSilent', hostId: HOST });
  return life;
};

export const later = (life: VmLife, seconds: number): VmLife => {
  life.now = at(seconds);
  return life;
};

export const name = (life: VmLife): string => life.instanceId;

export const FIRST = name(declared('Always'));

export const exit1 = ` Last failure ${iso(0)}: LaunchFailed (exit 1).`;
