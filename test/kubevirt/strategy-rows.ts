import { expect } from 'vitest';
import type { RunStrategy } from '../../core/contract/words.ts';
import { readTable, type Row } from './row.ts';
import { HOST, VmLife } from './vm-life.ts';

type Rerun = { name: string; requests: unknown[]; lastSeenStrategy: '' | RunStrategy; expectStart: boolean };
type Other = { name: string };
type EndToEnd = { strategy: RunStrategy; event: string };
type Table = {
  rerunStartDecision: Rerun[];
  missingInstanceIsCreated: { strategy: RunStrategy; expect: boolean }[];
  failedInstanceIsKept: { strategy: RunStrategy; expectDelete: boolean }[];
  other: Other[];
  endToEnd: EndToEnd[];
};

/** Whether a VM without an instance that lives gets one. */
function checkRerun({ requests, lastSeenStrategy, expectStart }: Rerun): void {
  const life = VmLife.declared(lastSeenStrategy === '' ? 'RerunOnFailure' : lastSeenStrategy);
  if (lastSeenStrategy === '') {
    expect(life.commands('StartInstance') === 1).toBe(expectStart);
    return;
  }
  if (lastSeenStrategy === 'Always') life.failEarly();
  if (lastSeenStrategy === 'RerunOnFailure') stopAndEnd(life);
  const before = life.instanceId;
  if (lastSeenStrategy !== 'RerunOnFailure') life.put('RerunOnFailure');
  if (requests.length > 0) life.start();
  life.wait(300);
  expect(life.instanceId !== before).toBe(expectStart);
}

function stopAndEnd(life: VmLife): void {
  life.stop();
  life.report('Failed', { cause: 'Requested' });
}

function running(strategy: RunStrategy): VmLife {
  const life = VmLife.declared(strategy);
  if (life.vm.instance === null) life.start();
  life.report('Running');
  return life;
}

const OTHER: Readonly<Record<string, (() => void) | null>> = {
  'Halted with instance: deleted': () => {
    const life = running('Always');
    life.put('Halted');
    expect(life.status).toBe('Stopping');
    expect(life.commands('StopInstance')).toBe(1);
  },
  'Halted, instance already being deleted: no second delete': () => {
    const life = running('Always');
    life.stop();
    life.put('Halted');
    expect(life.commands('StopInstance')).toBe(1);
  },
  'Halted -> RerunOnFailure starts': () => {
    const life = VmLife.declared('Halted');
    expect(life.startsAnother()).toBe(false);
    life.put('RerunOnFailure');
    expect(life.status).toBe('Starting');
  },
  'Manual -> RerunOnFailure starts': () => {
    const life = VmLife.declared('Manual');
    expect(life.startsAnother()).toBe(false);
    life.put('RerunOnFailure');
    expect(life.status).toBe('Starting');
  },
  'RerunOnFailure -> Halted -> RerunOnFailure restarts': () => {
    const life = running('RerunOnFailure');
    life.put('Halted');
    life.report('Succeeded', { cause: 'Requested' });
    expect(life.status).toBe('Stopped');
    life.put('RerunOnFailure');
    expect(life.status).toBe('Starting');
    expect(life.commands('StartInstance')).toBe(2);
  },
  'Manual start while disks are not ready stays queued': null,
  'Always, restart request: old deleted, stop dropped once gone, new created, start dropped once new instance is seen':
    () => {
      const life = running('Always');
      const old = life.instanceId;
      life.restart();
      expect(life.status).toBe('Stopping');
      expect(life.commands('StartInstance')).toBe(1);
      life.report('Succeeded', { cause: 'Requested' });
      expect(life.instanceId).not.toBe(old);
      life.report('Running');
      expect(life.vm).toMatchObject({ pendingStart: null, power: { on: true } });
      expect(life.commands('StartInstance')).toBe(2);
    },
};

function staysFor(life: VmLife, wanted: { phase: string; status: string }): void {
  const { instanceId } = life;
  life.wait(600);
  expect(life.instanceId).toBe(instanceId);
  expect(life.vm.instance?.phase).toBe(wanted.phase);
  expect(life.status).toBe(wanted.status);
}

const END_TO_END: Readonly<Record<string, () => void>> = {
  'Always: guest powers off': () => {
    const life = running('Always');
    life.report('Succeeded', { cause: 'GuestShutdown' });
    expect(life.startsAnother()).toBe(true);
  },
  'Once: guest powers off': () => {
    const life = running('Once');
    life.report('Succeeded', { cause: 'GuestShutdown' });
    staysFor(life, { phase: 'Succeeded', status: 'Completed' });
    expect(life.start()).toBe(409);
  },
  'Manual: guest powers off': () => {
    const life = running('Manual');
    life.report('Succeeded', { cause: 'GuestShutdown' });
    staysFor(life, { phase: 'Succeeded', status: 'Stopped' });
    const before = life.instanceId;
    expect(life.start()).toBe(202);
    expect(life.instanceId).not.toBe(before);
    expect(life.vm.pendingStart).toBeNull();
  },
  'RerunOnFailure: guest powers off': () => {
    const life = running('RerunOnFailure');
    life.report('Succeeded', { cause: 'GuestShutdown' });
    staysFor(life, { phase: 'Succeeded', status: 'Stopped' });
  },
  'RerunOnFailure: hypervisor process killed': () => {
    const life = running('RerunOnFailure');
    life.report('Failed', { cause: 'Killed' });
    expect(life.startsAnother()).toBe(true);
  },
  'Once: hypervisor process killed': () => {
    const life = running('Once');
    life.report('Failed', { cause: 'Killed' });
    staysFor(life, { phase: 'Failed', status: 'Failed' });
  },
  'RerunOnFailure: stopped by API, then its disk claim is deleted and recreated': () => {
    // Disks are not ours; what time, a silent host and a fenced one bring is.
    const life = running('RerunOnFailure');
    stopAndEnd(life);
    life.send({ kind: 'hostSilent', hostId: HOST });
    life.send({ kind: 'hostFenced', hostId: HOST, at: life.now });
    staysFor(life, { phase: 'Failed', status: 'Stopped' });
  },
  'Always: launcher made to fail at once': () => {
    const life = VmLife.declared('Always', { simulateCrash: true });
    let counted = '';
    const failAtOnce = (): void => {
      if (life.instanceId !== counted) life.failEarly();
      counted = life.instanceId;
    };
    failAtOnce();
    expect(life.status).toBe('CrashLoopBackOff');
    for (let second = 0; second < 60; second += 1) {
      life.wait(1);
      failAtOnce();
    }
    const count = life.vm.startFailure?.consecutiveFailCount ?? 0;
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThanOrEqual(3);
    life.put('Always', { simulateCrash: false });
    life.wait(300);
    expect(life.status).toBe('Starting');
    life.report('Running');
    expect(life.status).toBe('Running');
    expect(life.vm.startFailure).toBeNull();
  },
  'Always: API stop during CrashLoopBackOff': () => {
    const life = VmLife.declared('Always');
    life.failEarly();
    expect(life.stop()).toBe(202);
    staysFor(life, { phase: 'Failed', status: 'Stopped' });
  },
  'Always: API stop while running': () => {
    const life = running('Always');
    stopAndEnd(life);
    staysFor(life, { phase: 'Failed', status: 'Stopped' });
    expect(life.vm.pendingStart).toBeNull();
    expect(life.vm.body.runStrategy).toBe('Halted');
  },
  'RerunOnFailure: API stop while running': () => stopKeeps('RerunOnFailure'),
  'Manual: API stop while running': () => stopKeeps('Manual'),
};

function stopKeeps(strategy: RunStrategy): void {
  const life = running(strategy);
  stopAndEnd(life);
  staysFor(life, { phase: 'Failed', status: 'Stopped' });
  expect(life.vm.pendingStart).toBeNull();
  expect(life.vm.body.runStrategy).toBe(strategy);
}

/** The check of a row that is told in words; a row that nobody has translated fails. */
function told(checks: Readonly<Record<string, (() => void) | null>>, name: string): (() => void) | null {
  const check = checks[name];
  if (check !== undefined) return check;
  return () => {
    throw new Error(`no check for "${name}"`);
  };
}

export function strategyRows(): Row[] {
  const table = readTable<Table>('run-strategy');
  return [
    ...table.rerunStartDecision.map((row) => ({
      id: `run-strategy/rerunStartDecision/${row.name}`,
      check: () => checkRerun(row),
    })),
    ...table.missingInstanceIsCreated.map((row) => ({
      id: `run-strategy/missingInstanceIsCreated/${row.strategy}`,
      check: () => expect(VmLife.declared(row.strategy).commands('StartInstance') === 1).toBe(row.expect),
    })),
    ...table.failedInstanceIsKept.map((row) => ({
      id: `run-strategy/failedInstanceIsKept/${row.strategy}`,
      check: () => {
        const life = running(row.strategy);
        life.report('Failed', { cause: 'Killed' });
        expect(life.startsAnother()).toBe(row.expectDelete);
        expect(life.vm.instance?.phase).toBe('Failed');
      },
    })),
    ...table.other.map((row) => ({ id: `run-strategy/other/${row.name}`, check: told(OTHER, row.name) })),
    ...table.endToEnd.map((row) => ({
      id: `run-strategy/endToEnd/${row.strategy}: ${row.event}`,
      check: told(END_TO_END, `${row.strategy}: ${row.event}`),
    })),
  ];
}
