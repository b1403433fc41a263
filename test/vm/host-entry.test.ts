/** What the index knows of a VM saves the reading of it: only where its host's word could change nothing (DESIGN section 6). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InstanceSeen } from '../../core/contract/agent-bodies.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { REPORTED_PHASES, RUN_STRATEGIES } from '../../core/contract/words.ts';
import { after, hours, minutes, seconds } from '../../core/kit/time.ts';
import { hostEntry, isAsKnown } from '../../core/vm/host-entry.ts';
import { hostLine, lineAt } from '../../core/vm/told.ts';
import { vmEntry, vmLine, vmSort } from '../../functions/vm-lines.ts';
import { vmsTagOf } from '../../functions/vms-tag.ts';
import { boots, decided, declared, HOST, running, type VmLife } from './scene.ts';

const seenNow = (life: VmLife, more: Partial<InstanceSeen> = {}): InstanceSeen => ({
  vmId: 'web',
  instanceId: life.instanceId,
  phase: 'Running',
  ranSeconds: 900,
  ...more,
});
const says = (life: VmLife, more: Partial<InstanceSeen> = {}): unknown =>
  life.send({ kind: 'hostReported', hostId: HOST, seen: seenNow(life, more) });

/** It runs, and its host has said so, with what it holds it by. */
function settled(body: Partial<VmBody> = {}, more: Partial<InstanceSeen> = {}): VmLife {
  const life = running('Always', body);
  says(life, more);
  return life;
}
const LEASED = { leaseSeconds: 600, graceSeconds: 30 };
const leased = (): VmLife => {
  const life = settled({ lease: '10m', grace: '30s' }, LEASED);
  life.wait(61);
  says(life, LEASED);
  return life;
};

const step: fc.Arbitrary<(life: VmLife) => unknown> = fc.oneof(
  fc.constantFrom(...REPORTED_PHASES, 'Running' as const).map(
    (phase) =>
      (life: VmLife): unknown =>
        life.report(phase),
  ),
  fc
    .record({ ranSeconds: fc.constantFrom(undefined, 0, 5, 900), resets: fc.constantFrom(undefined, 1, 4) })
    .chain(({ ranSeconds, resets }) =>
      fc.constantFrom(undefined, 'IoError').map(
        (condition) =>
          (life: VmLife): unknown =>
            says(life, {
              ...(ranSeconds === undefined ? {} : { ranSeconds }),
              ...(resets === undefined ? {} : { resets }),
              ...(condition === undefined ? {} : { condition }),
            }),
      ),
    ),
  fc.constantFrom(
    (life: VmLife): unknown => says(life, LEASED),
    (life: VmLife): unknown => life.stop(5),
    (life: VmLife): unknown => life.start(),
    (life: VmLife): unknown => life.restart(),
    (life: VmLife): unknown => boots(life),
    (life: VmLife): unknown => life.send({ kind: 'hostSilent', hostId: HOST }),
    (life: VmLife): unknown => life.send({ kind: 'hostFenced', hostId: HOST, at: life.now }),
    (life: VmLife): unknown => life.send({ kind: 'launchFetched', instanceId: life.instanceId }),
    (life: VmLife): unknown => life.send({ kind: 'leaseSent' }),
    (life: VmLife): unknown => life.send({ kind: 'askConsole', by: 'anna' }),
    (life: VmLife): unknown => life.send({ kind: 'recover', at: life.now, settle: minutes(40) }),
    (life: VmLife): unknown => life.send({ kind: 'delete', force: false }),
    (life: VmLife): unknown => life.put('Always', { lease: '10m', grace: '30s' }),
    (life: VmLife): unknown => life.put('Always'),
  ),
  fc.constantFrom(...RUN_STRATEGIES).map(
    (strategy) =>
      (life: VmLife): unknown =>
        life.put(strategy),
  ),
  fc.constantFrom(1, 70, 700).map(
    (length) =>
      (life: VmLife): void =>
        void (life.now = after(life.now, seconds(length))),
  ),
);

describe('an entry that knows what its host says', () => {
  test('is of a VM that this word would leave as it is, then and later', () => {
    let known = 0;
    const words = fc.constantFrom<Partial<InstanceSeen>>({}, { resets: 1 }, { condition: 'IoError' }, LEASED, {
      ranSeconds: 5,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), words, (steps, more) => {
        const life = declared('Always');
        life.report('Running');
        for (const act of steps) act(life);
        const seen = seenNow(life, more);
        if (!isAsKnown(hostEntry(life.vm), seen)) return;
        known += 1;
        for (const later of [seconds(0), minutes(20), hours(30)]) {
          life.now = after(life.now, later);
          expect(decided(life, { kind: 'hostReported', hostId: HOST, seen }).kind).toBe('unchanged');
        }
      }),
      { numRuns: 2000 },
    );
    expect(known).toBeGreaterThan(20);
  });

  test('is there for a VM that runs, with and without a lease: its host is heard without a read of it', () => {
    expect(isAsKnown(hostEntry(settled().vm), seenNow(settled()))).toBe(true);
    expect(isAsKnown(hostEntry(leased().vm), seenNow(leased(), LEASED))).toBe(true);
  });

  test.each<[string, VmLife, Partial<InstanceSeen>]>([
    ['an instance that has ended', settled(), { phase: 'Failed' }],
    ['another instance', settled(), { instanceId: 'other-1' }],
    ['what keeps the guest from running', settled(), { condition: 'IoError' }],
    ['a reset more', settled(), { resets: 1 }],
    ['a lease that it was not known to hold', settled(), LEASED],
    ['a lease that it holds no more', leased(), {}],
    ['a first word of it', declared('Always'), {}],
  ])('%s is news', (_what, life, more) => {
    expect(isAsKnown(hostEntry(life.vm), seenNow(life, more))).toBe(false);
  });
});

describe('the line of the index', () => {
  const lives = (): VmLife[] => {
    const stopping = settled();
    stopping.stop(20);
    const asked = settled();
    asked.send({ kind: 'askConsole', by: 'anna' });
    const starting = declared('Always');
    starting.report('Scheduled');
    return [settled(), leased(), stopping, asked, starting, declared('Halted')];
  };

  test('says what the list of the host says', () => {
    for (const life of lives()) {
      const sort = vmSort(HOST, 'Running', hostEntry(life.vm));
      expect(vmEntry(sort)).toEqual([hostEntry(life.vm)]);
      expect(vmLine(sort)).toEqual([{ vmId: 'web', status: 'Running' }]);
      const line = vmEntry(sort)[0]?.line ?? null;
      for (const wait of [0, 200, 700]) {
        const now = after(life.now, seconds(wait));
        expect(line === null ? null : lineAt(line, now)).toEqual(hostLine(life.vm, now));
      }
    }
  });

  test('has room for the longest names', () => {
    const life = leased();
    life.vm = { ...life.vm, uid: 'u'.repeat(64) };
    const entry = { ...hostEntry(life.vm), vmId: life.vm.vmId };
    const long = { ...entry, line: entry.line === null ? null : { ...entry.line, instanceId: 'i'.repeat(128) } };
    expect(vmSort(HOST, 'CrashLoopBackOff', long).length).toBeLessThan(1024 - 63);
  });

  test('of another form names the VM and nothing of it: then the VM itself is read', () => {
    expect(vmEntry(`${HOST}|web|Running|{"newer":1}`)).toEqual([{ vmId: 'web', line: null, settled: null }]);
    expect(vmEntry('web|Running')).toEqual([]);
    expect(vmLine('web|Running')).toEqual([]);
  });
});

describe('the tag', () => {
  const tag = (...lives: VmLife[]): string => vmsTagOf(lives.map(({ vm }) => hostEntry(vm)));

  test('stays while the host is told the same, and changes with what it is told', () => {
    const life = settled();
    const before = tag(life);
    says(life, { resets: 1 });
    life.wait(3600);
    expect(tag(life)).toBe(before);
    life.stop(20);
    expect(tag(life)).not.toBe(before);
    expect(tag()).not.toBe(before);
  });

  test('changes when a console is asked for', () => {
    const life = settled();
    const before = tag(life);
    life.send({ kind: 'askConsole', by: 'anna' });
    expect(tag(life)).not.toBe(before);
  });
});
