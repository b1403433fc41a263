/** Nodes: G1, G2, G7 and G8, from DESIGN section 2 and from nothing else. Keeps its own count of every node's crashes. */
import { withdrawal } from './check-withdrawal.ts';
import { at, decidedAt, numberAt, type Report, textAt, type Write } from './violation.ts';

const NEXT: Readonly<Record<string, string>> = {
  Idle: 'StagedUpdate',
  StagedUpdate: 'PerformedUpdate',
  PerformedUpdate: 'RebootedIntoUpdate',
  RebootedIntoUpdate: 'MonitoringUpdate',
  MonitoringUpdate: 'Idle',
};
const MINUTE = 60_000;
const WITHDRAWN_AFTER = 35 * MINUTE;
const DAY = 24 * 60 * MINUTE;

/** What one node has been through, by the checker's own reckoning. */
type Ledger = {
  count: number;
  firstAt: number;
  lastAt: number;
  counted: Set<number>;
  /** Monitoring was passed, and no ErrorReset has been accepted since. */
  succeeded: boolean;
  /** Of the last crash, by the policy that the node carried then. */
  due: number;
  resetAfter: number | null;
  /** The last update that was completed. */
  done: { version: string; at: number } | null;
  /** A person asked for the next attempt. */
  asked: boolean;
  /** Boot → the highest uptime of a report that was answered. */
  heard: Map<string, number>;
};

const fresh = (): Ledger => ({
  count: 0,
  firstAt: 0,
  lastAt: 0,
  counted: new Set(),
  succeeded: false,
  due: 0,
  resetAfter: null,
  done: null,
  asked: false,
  heard: new Map(),
});

export class NodeCheck {
  readonly #ledgers = new Map<string, Ledger>();

  write(write: Write, report: Report): void {
    const { id, before, after } = write;
    const enrolled = before === null || (at(before, 'removed') !== null && at(after, 'removed') === null);
    const known = enrolled ? undefined : this.#ledgers.get(id);
    const ledger = known ?? fresh();
    this.#ledgers.set(id, ledger);
    const state = textAt(after, 'spec.state') ?? '';
    if (!(state in NEXT)) report('G7', `the spec is ${state}`);
    if (before === null || enrolled) {
      if (numberAt(after, 'crash.count') !== 0) report('G8', 'a node enrols with crashes');
      return;
    }
    const was = textAt(before, 'spec.state') ?? '';
    const generation = numberAt(before, 'spec.generation') ?? 0;
    const next = numberAt(after, 'spec.generation') ?? 0;
    if (next < generation) report('G7', `the generation went back from ${generation} to ${next}`);
    if (state !== was && next !== generation + 1)
      report('G7', `${was} became ${state} without a generation of its own`);
    const late = fellBackLate(write, ledger) || fellBackBeforeIdle(write, ledger);
    if (state === was && next !== generation + (late ? 1 : 0)) report('G7', `generation ${next} for the same ${state}`);
    if (state !== was && state !== 'Idle' && state !== NEXT[was]) report('G7', `the spec went from ${was} to ${state}`);
    const home = was === 'Idle' && at(before, 'attempt') !== null && at(after, 'attempt') === null;
    const moved = (was !== 'Idle' && state !== was) || (home && numberAt(write.body, 'generation') !== null);
    if (write.by.endsWith(`/${id}/reports`) && moved) this.#mustBeNews(write, ledger, generation, report);
    this.#forgetByTime(write, ledger);
    this.#judge(write, ledger, was, state, generation, report);
    const count = numberAt(after, 'crash.count') ?? 0;
    if (count !== ledger.count) {
      const guarantee = count < ledger.count ? 'G8' : 'G1';
      report(guarantee, `the crash count is ${count}; by what happened it is ${ledger.count}`, {
        'crash.count': ledger.count,
      });
      ledger.count = count;
    }
    if (write.by.endsWith('/retry')) ledger.asked = true;
  }

  /** A report that was answered: an ErrorReset after the success spoils it, whether or not it was worth a write. */
  answered(id: string, body: unknown, stored: unknown): void {
    const ledger = this.#ledgers.get(id);
    if (ledger === undefined) return;
    const boot = textAt(body, 'bootId') ?? '';
    const uptime = numberAt(body, 'uptime') ?? 0;
    const stale = uptime <= (ledger.heard.get(boot) ?? -1);
    ledger.heard.set(boot, Math.max(uptime, ledger.heard.get(boot) ?? -1));
    const generation = numberAt(body, 'generation') ?? -1;
    const ours = numberAt(stored, 'spec.generation') ?? 0;
    const current = generation === ours || generation === ours - 1;
    if (!stale && current && boot === textAt(stored, 'status.bootId') && textAt(body, 'state') === 'ErrorReset')
      ledger.succeeded = false;
  }

  /** Only a report of the present generation, newer than the last one that was answered, moves a spec or ends an attempt. */
  #mustBeNews({ before, after, body }: Write, ledger: Ledger, generation: number, report: Report): void {
    const named = numberAt(body, 'generation');
    // A boot proves a fall back whoever tells of it, also an agent that lost its record there (DESIGN section 2 rule 5).
    const counted = (numberAt(after, 'crash.count') ?? 0) > (numberAt(before, 'crash.count') ?? 0);
    const fellBack = named === null && counted && textAt(after, 'crash.lastReason') === 'RolledBack';
    if (named !== generation && !fellBack)
      report('G1', `a report of generation ${String(named)} moved generation ${generation}`);
    const uptime = numberAt(body, 'uptime') ?? 0;
    const last = ledger.heard.get(textAt(body, 'bootId') ?? '') ?? -1;
    if (uptime < last)
      report('G1', `a report made ${uptime} s after the boot moved the spec, and one of ${last} s was answered`);
  }

  /** Rule 3: once the time has passed since the first crash the record may be forgotten, at any write. */
  #forgetByTime(write: Write, ledger: Ledger): void {
    const { before, after, now } = write;
    const { resetAfter } = ledger;
    if (ledger.count === 0 || resetAfter === null || now < ledger.firstAt + resetAfter) return;
    const crashed = textAt(before, 'spec.state') !== 'Idle' && crashedHere(write);
    if (crashed || (numberAt(after, 'crash.count') ?? 0) < ledger.count) ledger.count = 0;
  }

  #judge(write: Write, ledger: Ledger, was: string, state: string, generation: number, report: Report): void {
    const { before, after, now } = write;
    if (state === 'StagedUpdate' && was === 'Idle') {
      this.#attempt(write, ledger, report);
      ledger.succeeded = false;
      return;
    }
    const accepted = write.by.endsWith('/reports') ? textAt(write.body, 'state') : null;
    const recent = (numberAt(write.body, 'generation') ?? -1) >= generation - 1;
    if (was === 'Idle' && accepted === 'ErrorReset' && recent) ledger.succeeded = false;
    if (state !== 'Idle') return;
    if (was === 'Idle') {
      const ended = at(before, 'attempt') !== null && at(after, 'attempt') === null;
      if (fellBackLate(write, ledger) || fellBackBeforeIdle(write, ledger)) {
        this.#count(write, ledger, true);
        ledger.done = null;
        return;
      }
      if (ended && accepted === 'Idle' && ledger.succeeded) {
        ledger.count = 0;
        ledger.done = { version: textAt(write.body, 'currentVersion') ?? '', at: now };
      }
      if (ended && accepted === 'Idle') ledger.succeeded = false;
      return;
    }
    if (at(after, 'removed') !== null) return;
    const reachedAt = numberAt(before, 'spec.reachedAt');
    const soak = numberAt(before, 'policy.soak') ?? 0;
    const crashed = accepted === 'ErrorReset' || crashedHere(write);
    if (was === 'MonitoringUpdate' && reachedAt !== null && now >= reachedAt + soak && !crashed) {
      ledger.succeeded = true;
      return;
    }
    const told = numberAt(before, 'spec.acknowledgedAt');
    const since = numberAt(before, 'spec.since') ?? 0;
    if (told === null && accepted === null && now >= since + WITHDRAWN_AFTER) return;
    // Let on out of its wait and unheard for as long: withdrawn as well (section 2b).
    const letOn = numberAt(before, 'attempt.letOnAt');
    if (letOn !== null && accepted === null && now >= letOn + WITHDRAWN_AFTER && was === 'StagedUpdate') return;
    if (!crashed && (was === 'StagedUpdate' || was === 'PerformedUpdate')) {
      const wrong = withdrawal(write);
      if (wrong !== null) report('G8', `${was} ended and nothing was counted, but ${wrong}`);
      return;
    }
    if (told === null && accepted === null) report('G1', `${was} ended before anybody could know of it`);
    if (ledger.counted.has(generation)) report('G1', `generation ${generation} has failed twice`);
    ledger.counted.add(generation);
    this.#count(write, ledger, was === 'RebootedIntoUpdate' || was === 'MonitoringUpdate');
  }

  /** @param disruptive what disturbs workloads waits longer, whatever the policy's curve says (rule 3) */
  #count({ before, after, now }: Write, ledger: Ledger, disruptive: boolean): void {
    ledger.lastAt = decidedAt(after, 'crash.lastAt', now);
    ledger.firstAt = ledger.count === 0 ? ledger.lastAt : ledger.firstAt;
    ledger.count += 1;
    ledger.asked = false;
    ledger.succeeded = false;
    ledger.resetAfter = numberAt(before, 'policy.backoff.resetAfter');
    const unit = numberAt(before, 'policy.backoff.unit') ?? 0;
    const cap = numberAt(before, 'policy.backoff.cap') ?? 0;
    const from = textAt(before, 'policy.backoff.from') === 'firstCrash' ? ledger.firstAt : ledger.lastAt;
    const doubled = Math.pow(2, Math.min(ledger.count, 50));
    ledger.due = from + Math.min(cap, unit * doubled);
    if (disruptive) ledger.due = Math.max(ledger.due, ledger.lastAt + Math.min(DAY, MINUTE * doubled));
  }

  /** G2: an automatic attempt comes not before the wait is over. */
  #attempt({ before, now }: Write, ledger: Ledger, report: Report): void {
    if (ledger.count === 0 || ledger.asked) return;
    const { due } = ledger;
    if (now < due)
      report('G2', `attempt ${due - now} ms before the wait after crash ${ledger.count} is over`, {
        'spec.state': 'Idle',
      });
    if (at(before, 'heldBy') !== null) report('G2', 'a held node was started', { 'spec.state': 'Idle' });
  }
}

const crashedHere = ({ before, after }: Pick<Write, 'before' | 'after'>): boolean =>
  at(after, 'crash.lastAt') !== null && at(after, 'crash.lastAt') !== at(before, 'crash.lastAt');

/** Rule 5: what was updated is judged until Idle is reached, also between the success and the report of Idle. */
function fellBackBeforeIdle({ before, after, body, by }: Write, { succeeded }: Ledger): boolean {
  if (!succeeded || at(before, 'attempt') === null || !by.endsWith('/reports') || !crashedHere({ before, after }))
    return false;
  const version = textAt(body, 'currentVersion') ?? '';
  const another = textAt(body, 'bootId') !== textAt(before, 'status.bootId');
  const target = textAt(before, 'attempt.version') ?? '';
  return textAt(before, 'spec.state') === 'Idle' && another && version < target;
}

/** Rule 5: within a day of a completed update another boot of a version that is older than it, while the spec is Idle. */
function fellBackLate({ before, after, body, by, now }: Write, { done }: Ledger): boolean {
  if (done === null || now > done.at + DAY || !by.endsWith('/reports') || !crashedHere({ before, after })) return false;
  const version = textAt(body, 'currentVersion') ?? '';
  const another = textAt(body, 'bootId') !== textAt(before, 'status.bootId');
  return textAt(after, 'crash.lastReason') === 'RolledBack' && another && version < done.version;
}
