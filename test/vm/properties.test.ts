import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { END_CAUSES, REPORTED_PHASES, RUN_STRATEGIES } from '../../core/contract/words.ts';
import { parseVmId } from '../../core/kit/ids.ts';
import { seconds, after, instant, type Instant, milliseconds } from '../../core/kit/time.ts';
import { decideVm } from '../../core/vm/decide.ts';
import type { VmEvent } from '../../core/vm/event.ts';
import { printableStatus } from '../../core/vm/status.ts';
import { live, type VmRecord } from '../../core/vm/record.ts';
import { vmDueAt } from '../../core/vm/timing.ts';
import { seededDraws } from '../../world/random.ts';
import { frozen } from '../kit/frozen.ts';

const vmId = parseVmId('web') ?? expect.fail('a VM id');
const HOST = 'i-0000000000000000a';

type Action =
  | { do: 'wait'; seconds: number; timer: boolean }
  | {
      do: 'report';
      which: 'current' | 'earlier' | 'foreign';
      phase: (typeof REPORTED_PHASES)[number];
      cause: (typeof END_CAUSES)[number] | null;
    }
  | { do: 'put'; runStrategy: VmBody['runStrategy']; domain: 'a' | 'b' }
  | { do: 'delete'; force: boolean }
  | { do: 'start' | 'stop' | 'restart' | 'repeat' | 'fetch' | 'silent' | 'fenced' | 'wakeFailed' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      which: fc.constantFrom('current', 'current', 'current', 'earlier', 'foreign'),
      phase: fc.constantFrom(...REPORTED_PHASES, 'Failed', 'Failed'),
      cause: fc.option(fc.constantFrom(...END_CAUSES)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(0, 1, 12, 70, 320, 700, 4000),
      timer: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      runStrategy: fc.constantFrom(...RUN_STRATEGIES, 'Always'),
      domain: fc.constantFrom('a', 'b'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), force: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('start', 'stop', 'restart', 'repeat', 'fetch', 'silent', 'fenced', 'wakeFailed'),
    }),
  },
);

type Seen = { before: VmRecord | null; event: VmEvent; vm: VmRecord; now: Instant; accepted: boolean; counted: number };

function play(actions: readonly Action[], seed: number, judge: (seen: Seen) => void): void {
  let now = instant(1_800_000_000_000);
  let vm: VmRecord | null = null;
  let last: VmEvent | null = null;
  const draw = seededDraws(seed);
  const decide = (event: VmEvent): void => {
    const before = frozen(vm);
    const context = { vmId, now, draw: draw() };
    const outcome = decideVm(before, event, context);
    expect(decideVm(before, event, context)).toEqual(outcome);
    last = event;
    if (outcome.kind === 'changed') vm = outcome.next;
    if (vm === null) return;
    const facts = outcome.kind === 'changed' ? outcome.facts : [];
    const counted = facts.filter((fact) => fact.kind === 'metric').length;
    judge({ before, event, vm, now, accepted: outcome.kind !== 'refused', counted });
  };
  const act = (one: Action): void => {
    switch (one.do) {
      case 'wait': {
        now = after(now, seconds(one.seconds));
        const due = vm === null ? null : vmDueAt(vm);
        if (one.timer && due !== null && due <= now) decide({ kind: 'due' });
        break;
      }
      case 'report': {
        const instanceId =
          one.which === 'current'
            ? vm?.instance?.instanceId
            : one.which === 'earlier'
              ? vm?.previousInstances.at(-1)
              : 'foreign-1';
        if (instanceId === undefined) break;
        const cause = one.cause === null ? {} : { cause: one.cause };
        decide({ kind: 'report', report: { instanceId, phase: one.phase, ...cause } });
        break;
      }
      case 'put':
        decide({
          kind: 'put',
          body: { hostId: HOST, runStrategy: one.runStrategy, launch: { type: 'libvirt', domain: one.domain } },
        });
        break;
      case 'delete':
        decide({ kind: 'delete', force: one.force });
        break;
      case 'stop':
        decide({ kind: 'stop', grace: milliseconds(5000) });
        break;
      case 'start':
      case 'restart':
        decide({ kind: one.do });
        break;
      case 'repeat':
        if (last !== null) decide(last);
        break;
      case 'fetch':
        decide({ kind: 'launchFetched', instanceId: vm?.instance?.instanceId ?? 'none' });
        break;
      case 'silent':
        decide({ kind: 'hostSilent', hostId: HOST });
        break;
      case 'fenced':
        decide({ kind: 'hostFenced', hostId: HOST, at: now });
        break;
      case 'wakeFailed':
        decide({ kind: 'wakeFailed', status: 'Failed' });
        break;
    }
  };
  act({ do: 'put', runStrategy: 'Always', domain: 'a' });
  for (const one of actions) act(one);
}

function always(judgeOf: () => (seen: Seen) => void, minLength = 0): void {
  fc.assert(
    fc.property(fc.array(action, { minLength, maxLength: 70 }), fc.integer(), (actions, seed) => {
      play(actions, seed, judgeOf());
    }),
    { numRuns: 300 },
  );
}

const began = ({ before, vm }: Seen): boolean =>
  vm.instance !== null && vm.instance.instanceId !== before?.instance?.instanceId;
const adopted = ({ event, vm }: Seen): boolean =>
  event.kind === 'report' && vm.instance?.instanceId === event.report.instanceId;

describe('whatever happens to a VM, in whatever order', () => {
  test('G1: an instance is counted once, and only when its failure was nobody’s wish', () => {
    always(() => {
      const done = new Set<string>();
      return ({ before, vm, counted }) => {
        if (counted === 0) return;
        expect(counted).toBe(1);
        const id = before?.instance?.instanceId ?? 'none';
        expect(done.has(id)).toBe(false);
        done.add(id);
        expect(before?.instance?.stop).toBeNull();
        expect(['Always', 'RerunOnFailure']).toContain(vm.body.runStrategy);
      };
    });
  });

  test('G2: by itself nothing starts before the planned instant', () => {
    always(() => (seen) => {
      const { before, event, now } = seen;
      const asked = ['put', 'start', 'restart'].includes(event.kind);
      if (!began(seen) || adopted(seen) || asked || before?.pendingStart == null) return;
      expect(before.pendingStart.notBefore).toBeLessThanOrEqual(now);
    });
  });

  test('G5: a new instance begins only when the end of the one before is known', () => {
    always(() => (seen) => {
      const { before, event } = seen;
      if (!began(seen) || before === null || before.instance === null) return;
      if (adopted(seen)) {
        expect(before.instance.phase).toBe('Pending');
        return;
      }
      const ends =
        (event.kind === 'report' && (event.report.phase === 'Failed' || event.report.phase === 'Succeeded')) ||
        event.kind === 'hostFenced';
      expect(!live(before.instance) || ends).toBe(true);
    });
  });

  test('G6: after a stop nothing starts until a person says start, restart or declares the VM anew', () => {
    always(() => {
      let stopped = false;
      return (seen) => {
        const { before, event, vm, accepted } = seen;
        if (accepted && (event.kind === 'start' || event.kind === 'restart')) stopped = false;
        if (before?.uid !== vm.uid) stopped = false;
        if (accepted && event.kind === 'stop') stopped = true;
        if (stopped) expect(began(seen)).toBe(false);
        if (stopped && vm.removed === null) {
          expect(vm.pendingStart).toBeNull();
          expect(['Stopping', 'Stopped', 'Terminating']).toContain(printableStatus(vm));
        }
      };
    });
  });

  test('G8: the start-failure record goes when it is Running, by a verb, or with a strategy that keeps none', () => {
    always(() => ({ before, event, vm }) => {
      if (before?.startFailure == null || vm.startFailure !== null) return;
      const running = event.kind === 'report' && event.report.phase === 'Running';
      const verb = ['start', 'stop', 'restart', 'delete'].includes(event.kind);
      const dropped = event.kind === 'put' && !['Always', 'RerunOnFailure'].includes(event.body.runStrategy);
      expect(running || verb || dropped || before.uid !== vm.uid).toBe(true);
    });
  });

  test('G3: handling what is due makes the next instant later', () => {
    always(() => ({ vm, now }) => {
      const due = vmDueAt(vm);
      if (due === null) return;
      const at = due > now ? due : now;
      const outcome = decideVm(
        vm,
        { kind: 'due' },
        { vmId, now: at, draw: { delay: 0, deadline: 0, id: '0123456789abcdef' } },
      );
      const next = outcome.kind === 'changed' ? vmDueAt(outcome.next) : due;
      if (next !== null) expect(next).toBeGreaterThan(at);
    });
  });

  test('G3: a planned start has an instant, or waits for an end that the host is asked for again and again', () => {
    always(() => ({ vm }) => {
      if (vm.removed !== null) return;
      const untaken = live(vm.instance) && vm.instance.phase === 'Pending' && vm.instance.nextWakeAt !== null;
      if (vm.pendingStart !== null || untaken) expect(vmDueAt(vm)).not.toBeNull();
      if (printableStatus(vm) === 'CrashLoopBackOff') expect(vm.pendingStart).not.toBeNull();
      if (vm.pendingStart !== null) expect(vm.power.on).toBe(true);
    });
  });

  test('a report that comes twice changes nothing the second time', () => {
    always(() => ({ vm, event, now }) => {
      if (event.kind !== 'report') return;
      const again = decideVm(vm, event, { vmId, now, draw: { delay: 0.5, deadline: 0.5, id: 'fedcba9876543210' } });
      expect(again.kind).not.toBe('changed');
    });
  });

  test('the runs do get somewhere', () => {
    let counted = 0;
    let instances = 0;
    always(
      () => (seen) => {
        counted += seen.counted;
        instances += began(seen) ? 1 : 0;
      },
      40,
    );
    expect(counted).toBeGreaterThan(50);
    expect(instances).toBeGreaterThan(500);
  });
});
