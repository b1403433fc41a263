/** The hand that acts on the node: keeps the record, and only then does the one thing that was decided. */
import type { Drainer } from '../drain/drainer.ts';
import type { Checker } from '../health/checks.ts';
import type { Log } from '../log.ts';
import type { CommandName, UpdateDriver } from '../updater/driver.ts';
import { absorb } from './absorb.ts';
import { absorbDrain } from './drain.ts';
import type { DrainOutcome } from './drain-record.ts';
import type { NodeRecord } from './memory.ts';
import { absorbChecks } from './monitor.ts';
import { type Limits, type Move, notBegun } from './move.ts';
import type { Offers } from './offers.ts';
import type { RecordKeeper } from './record-keeper.ts';

export type HandOptions = {
  readonly driver: UpdateDriver;
  readonly drainer: Drainer;
  readonly checker: Checker;
  readonly keeper: RecordKeeper;
  readonly offers: Offers;
  readonly limits: Limits;
  readonly pollEveryMs: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  /** A step began or ended, or the offer changed. `reportNow` asks for a report at once. */
  readonly changed: (reportNow: boolean) => void;
};

export class Hand {
  readonly #options: HandOptions;

  constructor(options: HandOptions) {
    this.#options = options;
  }

  /** Does what was decided; answers how long to wait before looking again. Throws when it may not be begun. */
  async carryOut(move: Move): Promise<number> {
    const { pollEveryMs, changed, limits, now } = this.#options;
    switch (move.kind) {
      case 'rest':
      case 'wait':
        return pollEveryMs;
      case 'note':
        this.#keep(move.record);
        changed(false);
        return 0;
      case 'act':
        // On the way back to Idle nothing is begun that was not there before: it is done without a record as well.
        if (move.record.step?.target === 'Idle' && move.command !== 'reboot') this.#keep(move.record);
        else if (!this.#begin(move.record)) return this.carryOut(notBegun(move.record));
        return this.#send(move.command, move.record);
      case 'drain':
        return this.#drain(move);
      case 'check': {
        const results = await this.#options.checker(move.checks);
        await this.carryOut(absorbChecks(move.record, results, now(), limits));
        return pollEveryMs;
      }
      case 'lock': {
        if (move.change.act === 'hold') this.#keepFirst(move.record);
        else this.#keep(move.record);
        return (await this.#options.offers.changeLock(move.change)) === null ? 0 : pollEveryMs;
      }
      case 'end':
        this.#end(move.record);
        return 0;
    }
  }

  #keep(record: NodeRecord): void {
    this.#options.keeper.keep(record);
    if (record.updateCheck !== null) this.#options.offers.take(record.updateCheck);
  }

  #keepFirst(record: NodeRecord): void {
    this.#options.keeper.keepFirst(record);
    if (record.updateCheck !== null) this.#options.offers.take(record.updateCheck);
  }

  /** The same for what is to begin in time. Writing may have taken its own: false when it is too late by then. */
  #begin(record: NodeRecord): boolean {
    const { keeper, now } = this.#options;
    const before = keeper.memory.kind === 'kept' ? keeper.memory.record.step : null;
    this.#keepFirst(record);
    const begins = record.step?.begun === true && before?.begun === false;
    return !begins || now() < (record.step?.beginBefore ?? Infinity);
  }

  #end(record: NodeRecord): void {
    const { log, offers, changed } = this.#options;
    this.#keep(record);
    const { generation, state, error, notBegun } = record;
    if (error !== null) log('error', 'step failed', { generation, reason: error.reason, message: error.message });
    else if (notBegun) log('warn', 'step not begun: it was heard of too late', { generation });
    else log('info', 'state reached', { generation, state });
    // What is offered after a way back to Idle, or in a new boot, is to be asked afresh.
    if (state === 'Idle') offers.refreshSoon();
    if (state === 'StagedUpdate') offers.refreshLater();
    changed(true);
  }

  async #send(command: CommandName, record: NodeRecord): Promise<number> {
    const { driver, log, now, limits, pollEveryMs } = this.#options;
    const { generation, step } = record;
    log('info', 'command', { command, generation, step: step?.target, issued: step?.pending?.issued });
    const outcome = await driver.command(command);
    if (outcome.kind !== 'accepted') {
      const why = 'message' in outcome ? outcome.message : null;
      log('warn', 'command not accepted', { command, outcome: outcome.kind, why });
    }
    const after = absorb(record, command, outcome, now(), limits);
    if (after !== null) await this.carryOut(after);
    return pollEveryMs;
  }

  async #drain(move: Extract<Move, { kind: 'drain' }>): Promise<number> {
    const { drainer, limits, now, random, pollEveryMs } = this.#options;
    if (move.act === 'undo') this.#keep(move.record);
    else if (!this.#begin(move.record)) return this.carryOut(notBegun(move.record));
    const outcome = await drainer(move.act, move.step, move.mine);
    this.#sayDrain(move, outcome);
    await this.carryOut(absorbDrain(move, outcome, limits, { now: now(), random: random() }));
    return outcome.kind === 'waiting' || outcome.kind === 'unavailable' ? pollEveryMs : 0;
  }

  #sayDrain({ act, index, step, mine }: Extract<Move, { kind: 'drain' }>, outcome: DrainOutcome): void {
    const { kind } = outcome;
    const why = 'blockedBy' in outcome ? outcome.blockedBy.join(', ') : 'message' in outcome ? outcome.message : null;
    const level = kind === 'unavailable' || kind === 'impossible' || kind === 'blocked' ? 'warn' : 'info';
    this.#options.log(level, 'drain', {
      act,
      step: index,
      type: step.type,
      outcome: kind,
      mine: mine?.join(', '),
      why,
    });
  }
}
