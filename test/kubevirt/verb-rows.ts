import { expect } from 'vitest';
import { emptyBodySchema } from '../../core/contract/operator-bodies.ts';
import type { RunStrategy } from '../../core/contract/words.ts';
import { decideVm } from '../../core/vm/decide.ts';
import { parseVmId } from '../../core/kit/ids.ts';
import { cellsOf, readTable, type Row } from './row.ts';
import { HOST, START, VmLife } from './vm-life.ts';

type Verb = 'start' | 'stop' | 'restart';
type Call = {
  vm?: 'missing';
  strategy?: RunStrategy | 'any';
  instance?: string | null;
  instanceGraceSeconds?: number | null;
  requestGraceSeconds?: number | null;
  recoveryRequiredAfterVolumeMigration?: boolean;
  volumeMigrationRunning?: boolean;
  expect: number;
};
type Queue = { queued: string[]; new: string[]; expect: string };
type Table = Partial<
  Record<
    'cases' | 'noInstance' | 'running' | 'haltedWithLiveInstance' | 'other' | 'force' | 'derivedFromHandler',
    Call[]
  >
> & {
  queueRules: Queue[];
};

/** A VM whose instance is in a phase; null and `any` are none that lives. */
function having(strategy: RunStrategy, phase: string | null, graceSeconds: number | null): VmLife {
  const grace = graceSeconds === null ? {} : { grace: `${graceSeconds}s` };
  const life = VmLife.declared(strategy === 'Halted' || strategy === 'Manual' ? 'Always' : strategy, grace);
  if (phase === null || phase === 'any' || phase === 'unset phase') {
    life.stop();
    life.report('Failed', { cause: 'Requested' });
  } else {
    life.report('Running');
    if (phase === 'Unknown') life.send({ kind: 'hostSilent', hostId: HOST });
    if (phase === 'Succeeded' || phase === 'Failed') life.report(phase);
  }
  if (life.vm.body.runStrategy !== strategy) life.put(strategy, grace);
  return life;
}

function statusOf(verb: Verb, row: Call, instance: string | null): number {
  if (row.vm === 'missing') {
    const vmId = parseVmId('web');
    if (vmId === null) throw new Error('not a VM id');
    const outcome = decideVm(
      null,
      { kind: 'restart' },
      { vmId, now: START, draw: { delay: 0, deadline: 0, id: '0'.repeat(16) } },
    );
    return outcome.kind === 'refused' ? outcome.refusal.status : 202;
  }
  if (row.strategy === undefined || row.strategy === 'any') throw new Error('the row names no strategy');
  const life = having(row.strategy, instance, row.instanceGraceSeconds ?? null);
  return verb === 'stop' ? life.stop(row.requestGraceSeconds ?? null) : life[verb]();
}

const OUTSIDE = (row: Call): boolean =>
  row.recoveryRequiredAfterVolumeMigration === true || row.volumeMigrationRunning === true;

function callRows(verb: Verb, section: string, rows: readonly Call[], given: Partial<Call>): Row[] {
  return rows.map((row) => ({
    id: `api-${verb}/${section}/${cellsOf(row)}`,
    check: OUTSIDE(row)
      ? null
      : () => {
          const whole = { ...given, ...row };
          expect(statusOf(verb, whole, whole.instance ?? null)).toBe(row.expect);
        },
  }));
}

/** The restart verb takes no grace: a body that names one is 400. */
function graceRows(section: string, rows: readonly Call[]): Row[] {
  return rows.map((row) => ({
    id: `api-restart/${section}/${cellsOf(row)}`,
    check: () => {
      const taken = emptyBodySchema.safeParse({ gracePeriod: `${row.requestGraceSeconds ?? 0}s` }).success;
      expect(taken ? 202 : 400).toBe(row.expect);
    },
  }));
}

/** The peer queues requests; we hold an intent. The row's requests are made one after the other. */
function checkQueue({ queued, new: made, expect: outcome }: Queue): void {
  const life = having('RerunOnFailure', queued.includes('Stop') ? 'Running' : null, null);
  const verbOf = (actions: readonly string[]): Verb =>
    actions.length > 1 ? 'restart' : actions[0] === 'Stop' ? 'stop' : 'start';
  if (queued.length > 0) expect(life[verbOf(queued)]()).toBe(202);
  const status = life[verbOf(made)]();
  if (outcome === 'error') expect(status).toBe(500);
  else {
    expect(status).toBe(202);
    expect(life.vm.power.on).toBe(!(made.length === 1 && made[0] === 'Stop'));
    if (made.length === 1 && made[0] === 'Stop') expect(life.vm.pendingStart).toBeNull();
  }
}

const queueRows = (verb: Verb, rows: readonly Queue[]): Row[] =>
  rows.map((row) => ({
    id: `api-${verb}/queueRules/queued ${row.queued.join('+') || 'nothing'}, new ${row.new.join('+')}`,
    check: () => checkQueue(row),
  }));

export function verbRows(): Row[] {
  const [start, stop, restart] = [
    readTable<Table>('api-start'),
    readTable<Table>('api-stop'),
    readTable<Table>('api-restart'),
  ];
  return [
    ...callRows('start', 'cases', start.cases ?? [], {}),
    ...queueRows('start', start.queueRules),
    ...callRows('stop', 'noInstance', stop.noInstance ?? [], {}),
    ...callRows('stop', 'running', stop.running ?? [], { instance: 'Running' }),
    ...callRows('stop', 'haltedWithLiveInstance', stop.haltedWithLiveInstance ?? [], {
      strategy: 'Halted',
      instance: 'Running',
    }),
    ...callRows('stop', 'other', stop.other ?? [], {}),
    ...queueRows('stop', stop.queueRules),
    ...callRows('restart', 'cases', restart.cases ?? [], {}),
    ...graceRows('force', restart.force ?? []),
    ...graceRows('derivedFromHandler', restart.derivedFromHandler ?? []),
    ...queueRows('restart', restart.queueRules),
  ];
}
