/** What the end of a script makes of the record; the states are those of Bottlerocket's update API (facts, section 2.2). Pure. */
import type { CommandName } from '../driver.ts';
import type { ScriptRecord } from './record.ts';

/**
 * Why a command cannot be asked for now; null when it can. The status is what Bottlerocket's API answers, and in its
 * order: the state is judged first, then what was offered or staged (facts, section 6).
 */
export function whyNot(record: ScriptRecord, name: CommandName): { status: number; message: string } | null {
  const { state, chosen, staged } = record;
  switch (name) {
    case 'refresh':
    case 'reboot':
      return null;
    case 'prepare':
      if (state === 'Ready') return { status: 409, message: `${staged ?? 'an update'} is active already` };
      if (state === 'Idle') return { status: 409, message: 'no update is available' };
      return chosen === null ? { status: 404, message: 'no update is offered' } : null;
    case 'activate':
      if (state !== 'Staged') return { status: 409, message: 'no update is staged' };
      return staged === null ? { status: 404, message: 'nobody knows what is staged' } : null;
    case 'deactivate':
      // Whatever is active is taken back, also where the record that knew what it is was lost.
      return state === 'Ready' ? null : { status: 409, message: 'no update is active' };
  }
}

/** @param at a timestamp that no other run has */
export function afterRun(
  record: ScriptRecord,
  { failure, out }: { failure: string | null; out: string },
  running: string | null,
  at: string,
): ScriptRecord {
  const run = record.running;
  if (run === null) return record;
  const last = {
    type: run.name,
    status: failure === null ? ('Success' as const) : ('Failed' as const),
    timestamp: at,
    detail: failure ?? 'no detail',
  };
  const ended: ScriptRecord = { ...record, running: null, last };
  // How far a failed activation came nobody knows: it stands as active until deactivate has run.
  if (failure !== null) return run.name === 'activate' ? { ...ended, state: 'Ready' } : ended;
  switch (run.name) {
    case 'refresh':
      return offered(ended, out, running);
    case 'prepare':
      return { ...ended, state: 'Staged', staged: run.version };
    case 'activate':
      return { ...ended, state: 'Ready' };
    case 'deactivate':
      return { ...ended, state: 'Staged' };
    case 'reboot':
      return ended;
  }
}

/** What is active stays so until it is taken back, whatever is offered meanwhile. */
function offered(record: ScriptRecord, out: string, running: string | null): ScriptRecord {
  const version = out.split('\n')[0]?.trim() ?? '';
  const chosen = version === '' || version === running ? null : version;
  if (record.state === 'Ready') return { ...record, chosen };
  if (chosen === null) return { ...record, state: 'Idle', chosen: null, staged: null };
  return { ...record, state: record.staged === chosen ? 'Staged' : 'Available', chosen };
}
