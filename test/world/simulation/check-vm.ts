/** VMs: G1, G2, G5, G6 and G8, from DESIGN section 3 and from nothing else. Keeps its own count of every VM's failures. */
import { at, decidedAt, numberAt, type Report, type Stored, textAt, type Write } from './violation.ts';

const SECOND = 1000;
/** The default curve: 10 s doubled each time, half the base drawn on top, 300 s at most and still spread there. */
const BASE = 10 * SECOND;
const CAP = 300 * SECOND;
const STABLE = 600 * SECOND;
/** With SQS in order a retry is acted on within 2 s (DESIGN section 4); a second more for the calls themselves. */
const PROMPT = 3 * SECOND;
const NEVER_COUNT = ['Requested', 'HostMaintenance', 'HostLost'];

type Ledger = {
  uid: string;
  failures: number;
  unstable: number;
  counted: Set<string>;
  /** The earliest instant of the next automatic start. */
  notBefore: number;
  /** A person's stop holds. */
  off: boolean;
  /** The retryAfter of a failure that was counted while every service worked: the start must follow at once. */
  prompt: number | null;
};

/** Where it runs, or is to run. */
export const hostOf = (vm: Stored | null): string | null => textAt(vm, 'placedOn') ?? textAt(vm, 'body.hostId');

const live = (vm: Stored | null): boolean => {
  const phase = textAt(vm, 'instance.phase');
  return phase !== null && phase !== 'Succeeded' && phase !== 'Failed';
};

/** The shortest wait after the n-th failure in a row. */
function shortest(n: number, curve: unknown): number {
  const grown = curve === 'kubevirt' ? BASE * n * n : BASE * Math.pow(2, Math.min(n, 40) - 1);
  return grown >= CAP ? (CAP * 2) / 3 - 1 : grown;
}

export class VmCheck {
  readonly #ledgers = new Map<string, Ledger>();

  write(write: Write, report: Report): void {
    const { id, before, after, by } = write;
    const uid = textAt(after, 'uid') ?? '';
    let ledger = this.#ledgers.get(id);
    if (ledger?.uid !== uid) {
      ledger = { uid, failures: 0, unstable: 0, counted: new Set(), notBefore: 0, off: false, prompt: null };
      this.#ledgers.set(id, ledger);
    }
    const same = before !== null && textAt(before, 'uid') === uid ? before : null;
    const asked = /^(POST|PUT|DELETE) \/v1\/vms\//.test(by) && !by.endsWith('/reports');
    if (/\/(start|restart)$/.test(by)) ledger.off = false;
    const ended = this.#end(write, same, ledger, report);
    if (ended && write.servicesWork && !live(after))
      ledger.prompt = numberAt(after, 'startFailure.retryAfter') ?? numberAt(after, 'unstableRuns.retryAfter');
    // While its host is updated a start waits for that, however long (rule 10).
    if (at(after, 'maintenance') !== null) ledger.prompt = null;
    this.#clear(write, same, ledger, asked);
    this.#begin(write, same, ledger, report);
    if (by.endsWith('/stop') || by.startsWith('DELETE /v1/vms/')) ledger.off = true;
    this.#compare(after, ledger, ended, report);
  }

  /** An end, or a start deadline that passed: counted once, or not at all. */
  #end({ after, now, by, fenced, booted }: Write, before: Stored | null, ledger: Ledger, report: Report): boolean {
    const id = textAt(before, 'instance.instanceId');
    if (before === null || id === null || !live(before)) return false;
    const sameInstance = textAt(after, 'instance.instanceId') === id;
    const gone = !sameInstance || !live(after);
    const lateNow = numberAt(before, 'instance.timedOutAt') === null && numberAt(after, 'instance.timedOutAt') !== null;
    if (!gone && !lateNow) return false;
    const adopted = !sameInstance && by.endsWith('/reports') && textAt(before, 'instance.phase') === 'Pending';
    if (adopted) return false;
    // What had ended by itself as the update of its host began counts as ever (DESIGN section 3 rule 10).
    const stopped = at(before, 'instance.stop') !== null && at(before, 'instance.stop.forHost') !== true;
    if (stopped || at(after, 'deleting') !== null) return false;
    if (by.startsWith('PUT /v1/vms/')) return false;
    const cause = lateNow ? 'LaunchTimeout' : (causeOf(after, id) ?? 'Unknown');
    const host = hostOf(before) ?? '';
    // A host that is heard under another boot than when the instance was made runs nothing of the boot before (DESIGN section 3).
    const anotherBoot = (booted.get(host) ?? -Infinity) > (numberAt(before, 'instance.createdAt') ?? Infinity);
    if (cause === 'HostLost' && !fenced.has(host) && !anotherBoot)
      report('G5', `instance ${id} is taken for lost with its host, which nobody fenced and no other boot followed`);
    if (NEVER_COUNT.includes(cause)) return false;
    if (!lateNow && numberAt(before, 'instance.timedOutAt') !== null) return false;
    const strategy = textAt(before, 'body.runStrategy');
    const failed = lateNow || phaseOf(after, id) !== 'Succeeded';
    if (strategy !== 'Always' && !(strategy === 'RerunOnFailure' && failed)) return false;
    if (at(before, 'power.on') !== true) return false;
    if (ledger.counted.has(id)) report('G1', `instance ${id} has failed twice`);
    ledger.counted.add(id);
    const curve = at(before, 'body.backoff.preset');
    const decided = decidedAt(after, 'lastFailure.at', now);
    if (at(before, 'instance.everRunning') === true) {
      const since = numberAt(before, 'instance.runningSince') ?? now;
      // Only its host's word, from after that time, forgives (DESIGN section 3 rule 2): one that nobody heard is counted.
      const unheard = (numberAt(after, 'unstableRuns.count') ?? 0) === ledger.unstable + 1;
      if (decided - since >= STABLE && !unheard) {
        ledger.unstable = 0;
        ledger.notBefore = 0;
        return true;
      }
      ledger.unstable += 1;
      ledger.notBefore = decided + shortest(ledger.unstable, curve);
    } else {
      ledger.failures += 1;
      ledger.notBefore = decided + shortest(ledger.failures, curve);
    }
    return true;
  }

  /** Where the rules clear a record, the ledger may follow what was stored. */
  #clear({ after, now, by }: Write, before: Stored | null, ledger: Ledger, asked: boolean): void {
    const running = textAt(after, 'instance.phase') === 'Running' && textAt(before, 'instance.phase') !== 'Running';
    if (running && by.endsWith('/reports')) ledger.failures = 0;
    const since = numberAt(before, 'instance.runningSince');
    const stable = textAt(before, 'instance.phase') === 'Running' && since !== null && now >= since + STABLE;
    if (stable && at(after, 'unstableRuns') === null) ledger.unstable = 0;
    if (!asked) return;
    const strategy = textAt(after, 'body.runStrategy');
    const drops = !by.startsWith('PUT ') || (strategy !== 'Always' && strategy !== 'RerunOnFailure');
    if (drops) {
      ledger.failures = 0;
      ledger.unstable = 0;
    }
    ledger.prompt = null;
    const auto = (name: string | null): boolean => name === 'Always' || name === 'RerunOnFailure';
    const kept = JSON.stringify(at(before, 'body.launch')) === JSON.stringify(at(after, 'body.launch'));
    const planned = auto(strategy) && auto(textAt(before, 'body.runStrategy'));
    if (!by.startsWith('PUT ') || !kept || !planned) ledger.notBefore = 0;
  }

  #begin({ after, now, by }: Write, before: Stored | null, ledger: Ledger, report: Report): void {
    const id = textAt(after, 'instance.instanceId');
    if (id === null || id === textAt(before, 'instance.instanceId')) return;
    const adopted =
      by.endsWith('/reports') &&
      textAt(before, 'instance.phase') === 'Pending' &&
      !id.startsWith(ledger.uid.slice(0, 8));
    if (adopted) return;
    if (ledger.prompt !== null && now - ledger.prompt > PROMPT)
      report('G3', `instance ${id} was started ${now - ledger.prompt} ms after its retryAfter, and the vernier works`);
    ledger.prompt = null;
    if (ledger.off) report('G6', `instance ${id} was started after a stop`, { printableStatus: 'Stopped' });
    if (before !== null && live(before) && !endedHere(after, before))
      report('G5', `instance ${id} was started while the one before is not known ended`);
    if (now < ledger.notBefore)
      report('G2', `instance ${id} was started ${ledger.notBefore - now} ms before its wait is over`, {
        'instance.phase': { oneOf: ['Failed', 'Succeeded'] },
      });
  }

  #compare(after: Stored, ledger: Ledger, ended: boolean, report: Report): void {
    const failures = numberAt(after, 'startFailure.consecutiveFailCount') ?? 0;
    const unstable = numberAt(after, 'unstableRuns.count') ?? 0;
    if (failures !== ledger.failures) {
      report(
        failures < ledger.failures && !ended ? 'G8' : 'G1',
        `${failures} start failures are on record; by what happened there are ${ledger.failures}`,
        {
          'startFailure.consecutiveFailCount': ledger.failures === 0 ? null : ledger.failures,
        },
      );
      ledger.failures = failures;
    }
    if (unstable !== ledger.unstable) {
      report(
        unstable < ledger.unstable && !ended ? 'G8' : 'G1',
        `${unstable} unstable runs are on record; by what happened there are ${ledger.unstable}`,
        {
          'unstableRuns.count': ledger.unstable === 0 ? null : ledger.unstable,
        },
      );
      ledger.unstable = unstable;
    }
  }
}

/** The write that ends an instance may begin the next one at once: the end is then only in the log and in the evidence. */
const ended = (after: Stored, id: string): { phase: string; cause: string } | null => {
  const events = at(after, 'events');
  const lines = Array.isArray(events) ? events.map((event: unknown) => textAt(event, 'message') ?? '') : [];
  const line = lines.findLast((message) => message.startsWith(`instance ${id} `));
  const [, phase = '', cause = ''] = /^instance \S+ (Succeeded|Failed): (\w+)/.exec(line ?? '') ?? [];
  return phase === '' ? null : { phase, cause };
};

const causeOf = (after: Stored, id: string): string | null =>
  textAt(after, 'instance.instanceId') === id ? textAt(after, 'instance.cause') : (ended(after, id)?.cause ?? null);

const phaseOf = (after: Stored, id: string): string | null =>
  textAt(after, 'instance.instanceId') === id ? textAt(after, 'instance.phase') : (ended(after, id)?.phase ?? null);

const endedHere = (after: Stored, before: Stored): boolean =>
  ended(after, textAt(before, 'instance.instanceId') ?? '') !== null;
