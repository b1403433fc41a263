/** The hand that acts on the node: looks, decides, keeps the record, and only then does one thing at a time. */
import type { UpdateCheck } from '../../core/contract/agent-bodies.ts';
import type { Drainer } from '../drain/drainer.ts';
import { messageOf } from '../failure.ts';
import type { Checker } from '../health/checks.ts';
import type { Latch } from '../latch.ts';
import type { Log } from '../log.ts';
import { absorb } from './absorb.ts';
import { checkForUpdate } from './check.ts';
import { decide, mayAct } from './decide.ts';
import { absorbDrain } from './drain.ts';
import type { DrainOutcome } from './drain-record.ts';
import type { CommandName, Memory, MemoryStore, NodeRecord } from './memory.ts';
import { absorbChecks } from './monitor.ts';
import type { Limits, Move, Seen } from './move.ts';
import type { UpdateApi } from '../updater/update-api.ts';
import type { Wanted } from './wanted.ts';

export type WorkerOptions = {
  readonly api: UpdateApi;
  readonly drainer: Drainer;
  readonly checker: Checker;
  readonly store: MemoryStore;
  readonly bootId: () => string;
  readonly liveVms: () => number;
  readonly limits: Limits;
  readonly pollEveryMs: number;
  readonly refreshEveryMs: number;
  readonly now: () => number;
  readonly log: Log;
  readonly ended: AbortSignal;
  /** Set by whoever has news for the worker. */
  readonly latch: Latch;
  /** A step began or ended, or the check changed. `reportNow` asks for a report at once. */
  readonly changed: (reportNow: boolean) => void;
};

export type Worker = {
  memory(): Memory;
  updateCheck(): UpdateCheck;
  /** Whether instances on this host are being ended for a reboot. */
  draining(): boolean;
  /** Resolves when the first report has something true to say. */
  readonly ready: Promise<void>;
  /** Takes what the control plane wants. */
  want(desired: Wanted): void;
  run(): Promise<void>;
};

const NOT_CHECKED: UpdateCheck = { result: 'Failed', message: 'not checked yet' };
/** A refresh that does not show within this is given up and said to have failed. */
const CHECK_TIMEOUT_MS = 60_000;
/** A failed check is repeated sooner than a good one, but at minutes, not seconds. */
const FAILED_CHECK_SHARE = 1 / 3;

export function createWorker(options: WorkerOptions): Worker {
  const { api, store, latch, log, now, ended } = options;
  let memory = store.load();
  let desired: Wanted | null = null;
  let check: UpdateCheck = (memory.kind === 'kept' ? memory.record.updateCheck : null) ?? NOT_CHECKED;
  let nextCheckAt = 0;
  let markReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  if (memory.kind === 'lost') log('error', 'state lost', { why: memory.why });

  function keep(record: NodeRecord): void {
    store.save(record);
    memory = { kind: 'kept', record };
    if (record.updateCheck !== null) check = record.updateCheck;
  }

  async function look(): Promise<Seen> {
    const record = memory.kind === 'kept' ? memory.record : null;
    const asksLock = record !== null && (record.rollback !== null || record.step?.target === 'StagedUpdate');
    const [os, update, versionLock] = await Promise.all([
      api.version(),
      api.look(),
      asksLock ? api.versionLock() : null,
    ]);
    if ('unavailable' in os) log('warn', 'os version unavailable', { why: os.unavailable });
    return {
      now: now(),
      bootId: options.bootId(),
      version: 'version' in os ? os.version : null,
      update,
      liveVms: options.liveVms(),
      versionLock,
    };
  }

  async function send(command: CommandName, record: NodeRecord): Promise<number> {
    log('info', 'command', {
      command,
      generation: record.generation,
      step: record.step?.target,
      issued: record.step?.pending?.issued,
    });
    const outcome = await api.command(command);
    if (outcome.kind !== 'accepted') {
      log('warn', 'command not accepted', {
        command,
        outcome: outcome.kind,
        why: 'message' in outcome ? outcome.message : null,
      });
    }
    const after = absorb(record, command, outcome, now(), options.limits);
    if (after !== null) await carryOut(after);
    return options.pollEveryMs;
  }

  /** Does what was decided; answers how long to wait before looking again. */
  async function carryOut(move: Move): Promise<number> {
    switch (move.kind) {
      case 'rest':
      case 'wait':
        return options.pollEveryMs;
      case 'note':
        keep(move.record);
        options.changed(false);
        return 0;
      case 'act':
        keep(move.record);
        return send(move.command, move.record);
      case 'drain': {
        keep(move.record);
        const outcome = await options.drainer(move.act, move.step, move.mine);
        sayDrain(move, outcome);
        await carryOut(absorbDrain(move, outcome, now(), options.limits));
        return outcome.kind === 'waiting' || outcome.kind === 'unavailable' ? options.pollEveryMs : 0;
      }
      case 'check': {
        const results = await options.checker(move.checks);
        await carryOut(absorbChecks(move.record, results, now(), options.limits));
        return options.pollEveryMs;
      }
      case 'lock': {
        keep(move.record);
        const failure = await api.lockVersion(move.version);
        log(failure === null ? 'info' : 'warn', 'version lock', { version: move.version, why: failure });
        return failure === null ? 0 : options.pollEveryMs;
      }
      case 'end': {
        keep(move.record);
        const { generation, state, error } = move.record;
        if (error === null) log('info', 'state reached', { generation, state });
        else log('error', 'step failed', { generation, reason: error.reason, message: error.message });
        // What is offered after a way back to Idle, or in a new boot, is to be asked afresh.
        if (state === 'Idle') nextCheckAt = 0;
        options.changed(true);
        return 0;
      }
    }
  }

  function sayDrain({ act, index, step, mine }: Extract<Move, { kind: 'drain' }>, outcome: DrainOutcome): void {
    const why =
      outcome.kind === 'waiting' ? outcome.blockedBy.join(', ') : 'message' in outcome ? outcome.message : null;
    const trouble = outcome.kind === 'unavailable' || outcome.kind === 'impossible';
    log(trouble ? 'warn' : 'info', 'drain', {
      act,
      step: index,
      type: step.type,
      outcome: outcome.kind,
      mine: mine?.join(', '),
      why,
    });
  }

  const idle = (): boolean =>
    memory.kind !== 'kept' || (memory.record.state === 'Idle' && memory.record.error === null);

  async function checkNow(): Promise<void> {
    const result = await checkForUpdate({
      api,
      now,
      pause: async () => void (await latch.wait(options.pollEveryMs)),
      interrupted: () => ended.aborted || mayAct(memory, desired),
      timeoutMs: CHECK_TIMEOUT_MS,
    });
    if (result === null) return;
    const differs = JSON.stringify(result) !== JSON.stringify(check);
    nextCheckAt = now() + options.refreshEveryMs * (result.result === 'Failed' ? FAILED_CHECK_SHARE : 1);
    check = result;
    if (memory.kind === 'kept' && differs) keep({ ...memory.record, updateCheck: result });
    log(result.result === 'Failed' ? 'warn' : 'info', 'update check', { ...result });
    if (differs) options.changed(true);
  }

  async function turn(): Promise<number> {
    if (mayAct(memory, desired)) {
      markReady();
      return carryOut(decide(memory, desired, await look(), options.limits));
    }
    if (idle() && now() >= nextCheckAt) await checkNow();
    markReady();
    if (mayAct(memory, desired)) return 0;
    return idle() ? Math.max(options.pollEveryMs, nextCheckAt - now()) : options.refreshEveryMs;
  }

  return {
    memory: () => memory,
    updateCheck: () => check,
    draining: () => memory.kind === 'kept' && reboots(memory.record),
    ready,
    want: (wanted) => {
      desired = wanted;
      latch.set();
    },
    run: async () => {
      while (!ended.aborted) {
        const pauseMs = await turn().catch((error: unknown) => {
          log('error', 'worker turn failed', { why: messageOf(error) });
          markReady();
          return options.pollEveryMs;
        });
        if (pauseMs > 0) await latch.wait(pauseMs);
      }
    },
  };
}

/** Whether the instances of this host are to end for a reboot: what can block the reboot, the drain, comes first. */
function reboots({ step, drain, rollback, activated }: NodeRecord): boolean {
  const drained = drain === null || drain.plan.steps.length === 0 || drain.drainedAt !== null;
  if (step?.target === 'RebootedIntoUpdate') return drained;
  return step?.target === 'Idle' && rollback !== null && rollback.outcome === null && activated && drained;
}
