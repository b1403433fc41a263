/** Updates by the scripts of a host, behind the same face as Bottlerocket's update API: one command at a time, judged by looking. */
import { AgentError, messageOf, systemCode } from '../../failure.ts';
import { type CommandName, type CommandOutcome, LATEST, type UpdateDriver } from '../driver.ts';
import type { UpdateView } from '../update-status.ts';
import { afterRun, whyNot } from './outcome.ts';
import { freshRecord, lostRecord, type ScriptRecord, type ScriptStore } from './record.ts';
import type { Runs } from '../../runs.ts';
import type { Scripts } from './scripts.ts';

export type ScriptDriverOptions = {
  readonly scripts: Scripts;
  readonly store: ScriptStore;
  readonly runs: Runs;
  readonly bootId: () => string;
  /** Seconds since that boot. */
  readonly uptime: () => number;
  /** For timestamps that people read. */
  readonly wallMs: () => number;
  /** After this a script is killed and has failed. */
  readonly timeoutMs: number;
  /** A moment, between looks at a script that ends soon. */
  readonly pause: () => Promise<void>;
  /** Prints of a script that ends at once; `failure` is null when it ended with 0. */
  readonly ask: (
    script: readonly string[],
    how?: { timeoutMs: number; env: Readonly<Record<string, string>> },
  ) => Promise<{ failure: string | null; out: string }>;
};

const scriptOf = (name: CommandName): keyof Scripts => (name === 'refresh' ? 'check' : name);

const REBOOT_REFUSED_WITHIN_SECONDS = 5;

export function createScriptDriver(options: ScriptDriverOptions): UpdateDriver {
  const { scripts, store, runs, uptime } = options;
  /** What could not be written: it stands until something can. */
  let unsaved: ScriptRecord | null = null;
  /** There is no record, or none that can be read: so nobody knows what an agent before this one has left running. */
  let recordless = false;
  const save = (record: ScriptRecord): void => {
    store.save(record);
    unsaved = null;
  };
  /** The same for what runs already: what cannot be written of it is known here, and to the next agent by its claim. */
  const keep = (record: ScriptRecord): void => {
    try {
      save(record);
    } catch (error) {
      if (systemCode(error) === null) throw error;
      unsaved = record;
    }
  };
  const load = (): ScriptRecord => {
    const bootId = options.bootId();
    if (unsaved?.bootId === bootId) {
      recordless = false;
      return unsaved;
    }
    const kept = store.load();
    recordless = kept === null || kept === 'lost';
    if (kept === 'lost') return lostRecord(bootId);
    return kept?.bootId === bootId ? kept : freshRecord(bootId, kept);
  };

  /** Takes in a run that has ended; the run itself if it has not. */
  async function current(): Promise<ScriptRecord> {
    const record = load();
    const { running } = record;
    if (running === null) return record;
    const since = running.since ?? uptime();
    // Begun by an older agent: its time is counted from here on.
    if (running.since === null) save({ ...record, running: { ...running, since } });
    const over = (uptime() - since) * 1000 >= options.timeoutMs;
    const why = over ? `took longer than ${Math.round(options.timeoutMs / 1000)} s and was killed` : null;
    const view = runs.look(running.id, running.process, why);
    if (view.kind === 'runs') return { ...record, running: { ...running, since } };
    if (view.kind === 'never') {
      // As if it had not been asked for: whoever waits for it asks again.
      const unasked = { ...record, running: null };
      save(unasked);
      return unasked;
    }
    const os = await runningVersion();
    const at = `${new Date(options.wallMs()).toISOString()}#${record.runs}`;
    const next = afterRun(record, view, 'version' in os ? os.version : null, at);
    save(next);
    return next;
  }

  async function runningVersion(): Promise<{ version: string } | { unavailable: string }> {
    const { failure, out } = await options.ask(scripts.version);
    if (failure !== null) return { unavailable: `the script version ${failure}` };
    const version = out.split('\n')[0]?.trim() ?? '';
    return version === '' ? { unavailable: 'the script version printed nothing' } : { version };
  }

  /** A reboot that its script refuses would else be waited for; one that it has asked for comes at any moment. */
  async function whetherRefused(): Promise<CommandOutcome> {
    for (const until = uptime() + REBOOT_REFUSED_WITHIN_SECONDS; uptime() < until; await options.pause()) {
      const { running, last } = await current();
      if (running !== null) continue;
      const message = `the script reboot ${last?.detail ?? ''}`;
      return last?.status === 'Failed' ? { kind: 'refused', status: 500, message } : { kind: 'accepted' };
    }
    return { kind: 'accepted' };
  }

  /** A folder that cannot be written is a host that cannot be asked, and no end of the agent. */
  const safely = async <T>(ask: () => Promise<T>, otherwise: (message: string) => T): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      return otherwise(`the script driver's record: ${messageOf(error)}`);
    }
  };

  async function lookNow(): Promise<UpdateView> {
    const record = await current();
    if (recordless && runs.endLeft()) return { kind: 'busy', message: 'a script of a lost record is being ended' };
    if (record.running !== null) {
      return { kind: 'busy', message: `the script ${scriptOf(record.running.name)} is still running` };
    }
    if (record.last === null) return { kind: 'none' };
    const { state, chosen, staged, last } = record;
    const staging = staged === null ? null : { version: staged, nextToBoot: state === 'Ready' };
    return { kind: 'status', status: { state, chosen, staging, last } };
  }

  async function begin(name: CommandName): Promise<CommandOutcome> {
    const record = await current();
    if (record.running !== null || (recordless && runs.endLeft())) return { kind: 'busy' };
    const no = whyNot(record, name);
    if (no !== null) return { kind: 'refused', ...no };
    const version = name === 'prepare' ? record.chosen : name === 'refresh' ? null : record.staged;
    const id = `${name}-${record.runs + 1}`;
    const asked = { id, name, version, startedAt: options.wallMs(), since: uptime(), process: null };
    const begun: ScriptRecord = { ...record, runs: record.runs + 1, running: asked };
    const env = {
      ...(version === null ? {} : { HOLDOFF_VERSION: version }),
      ...(record.versionLock === LATEST ? {} : { HOLDOFF_VERSION_LOCK: record.versionLock }),
    };
    try {
      save(begun);
      const process = runs.start(id, scripts[scriptOf(name)], env);
      keep({ ...begun, running: { ...asked, process } });
    } catch (error) {
      if (name !== 'deactivate') throw error;
      // Taking back needs no record to be harmless when it is done twice: it is tried all the same.
      const { failure, out } = await options.ask(scripts.deactivate, { timeoutMs: options.timeoutMs, env });
      unsaved = afterRun(begun, { failure, out }, null, `${new Date(options.wallMs()).toISOString()}#${begun.runs}`);
      return { kind: 'accepted' };
    }
    return name === 'reboot' ? whetherRefused() : { kind: 'accepted' };
  }

  return {
    look: () => safely(lookNow, (message): UpdateView => ({ kind: 'unavailable', message })),
    command: (name) =>
      safely(
        () => begin(name),
        (message): CommandOutcome => ({ kind: 'unclear', message }),
      ),
    version: runningVersion,
    settings: () =>
      Promise.reject(
        new AgentError(
          'Host',
          'this host is driven by scripts and has no settings API: drain it with an exec hook instead',
        ),
      ),
    versionLock: () =>
      safely<string | null>(
        () => Promise.resolve(load().versionLock),
        () => null,
      ),
    lockVersion: (version) =>
      safely<string | null>(
        async () => {
          save({ ...(await current()), versionLock: version });
          return null;
        },
        (message) => message,
      ),
  };
}
