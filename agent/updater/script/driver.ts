/** Updates by the scripts of a host, behind the same face as Bottlerocket's update API: one command at a time, judged by looking. */
import { AgentError } from '../../failure.ts';
import type { CommandName } from '../../node/memory.ts';
import type { CommandOutcome, UpdateApi } from '../update-api.ts';
import type { UpdateView } from '../update-status.ts';
import { afterRun, whyNot } from './outcome.ts';
import { freshRecord, LATEST, lostRecord, type ScriptRecord, type ScriptStore } from './record.ts';
import type { Runs } from './runs.ts';
import type { Scripts } from './scripts.ts';

export type ScriptDriverOptions = {
  readonly scripts: Scripts;
  readonly store: ScriptStore;
  readonly runs: Runs;
  readonly bootId: () => string;
  readonly now: () => number;
  /** After this a script is killed and has failed. */
  readonly timeoutMs: number;
  /** A moment, between looks at a script that ends soon. */
  readonly pause: () => Promise<void>;
  /** Prints of a script that ends at once; `failure` is null when it ended with 0. */
  readonly ask: (script: readonly string[]) => Promise<{ failure: string | null; out: string }>;
};

const scriptOf = (name: CommandName): keyof Scripts => (name === 'refresh' ? 'check' : name);

const REBOOT_REFUSED_WITHIN_MS = 5000;

export function createScriptDriver(options: ScriptDriverOptions): UpdateApi {
  const { scripts, store, runs, now } = options;
  const load = (): ScriptRecord => {
    const bootId = options.bootId();
    const kept = store.load();
    if (kept === 'lost') return lostRecord(bootId);
    return kept?.bootId === bootId ? kept : freshRecord(bootId, kept);
  };

  /** Takes in a run that has ended; the run itself if it has not. */
  async function settled(): Promise<ScriptRecord> {
    const record = load();
    const { running } = record;
    if (running === null) return record;
    const over = now() - running.startedAt >= options.timeoutMs;
    const why = over ? `took longer than ${Math.round(options.timeoutMs / 1000)} s and was killed` : null;
    const view = runs.look(running.id, running.process, why);
    if (view.kind === 'runs') return record;
    if (view.kind === 'never') {
      // As if it had not been asked for: whoever waits for it asks again.
      const unasked = { ...record, running: null };
      store.save(unasked);
      return unasked;
    }
    const os = await runningVersion();
    const at = `${new Date(now()).toISOString()}#${record.runs}`;
    const next = afterRun(record, view, 'version' in os ? os.version : null, at);
    store.save(next);
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
    for (const until = now() + REBOOT_REFUSED_WITHIN_MS; now() < until; await options.pause()) {
      const { running, last } = await settled();
      if (running !== null) continue;
      const message = `the script reboot ${last?.detail ?? ''}`;
      return last?.status === 'Failed' ? { kind: 'refused', status: 500, message } : { kind: 'accepted' };
    }
    return { kind: 'accepted' };
  }

  return {
    look: async (): Promise<UpdateView> => {
      const record = await settled();
      if (record.running !== null)
        return { kind: 'busy', message: `the script ${scriptOf(record.running.name)} is still running` };
      if (record.last === null) return { kind: 'none' };
      const { state, chosen, staged, last } = record;
      const staging = staged === null ? null : { version: staged, nextToBoot: state === 'Ready' };
      return { kind: 'status', status: { state, chosen, staging, last } };
    },
    command: async (name: CommandName): Promise<CommandOutcome> => {
      const record = await settled();
      if (record.running !== null) return { kind: 'busy' };
      const no = whyNot(record, name);
      if (no !== null) return { kind: 'refused', ...no };
      const version = name === 'prepare' ? record.chosen : name === 'refresh' ? null : record.staged;
      const id = `${name}-${record.runs + 1}`;
      const asked = { id, name, version, startedAt: now(), process: null };
      const begun: ScriptRecord = { ...record, runs: record.runs + 1, running: asked };
      store.save(begun);
      const process = runs.start(id, scripts[scriptOf(name)], {
        ...(version === null ? {} : { HOLDOFF_VERSION: version }),
        ...(record.versionLock === LATEST ? {} : { HOLDOFF_VERSION_LOCK: record.versionLock }),
      });
      store.save({ ...begun, running: { ...asked, process } });
      return name === 'reboot' ? whetherRefused() : { kind: 'accepted' };
    },
    version: runningVersion,
    settings: () =>
      Promise.reject(
        new AgentError(
          'Host',
          'this host is driven by scripts and has no settings API: drain it with an exec hook instead',
        ),
      ),
    versionLock: () => Promise.resolve(load().versionLock),
    lockVersion: async (version) => {
      const record = await settled();
      store.save({ ...record, versionLock: version });
      return null;
    },
  };
}
