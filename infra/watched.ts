import type { Api } from './api.ts';
import type { Commands } from './commands.ts';
import type { Events } from './events.ts';
import type { HandlerFunction } from './function.ts';
import type { Settings } from './settings.ts';
import type { Table } from './table.ts';
import type { Timers } from './timers.ts';

/** The parts of a control plane that alarms and the dashboard look at. */
export interface Watched {
  readonly settings: Settings;
  readonly table: Table;
  readonly api: Api;
  readonly timers: Timers;
  readonly commands: Commands;
  readonly events: Events;
  /** Every handler, in the order in which an event travels. */
  readonly handlers: readonly HandlerFunction[];
}
