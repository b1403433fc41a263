/** A driver: what updates this host, asked and watched in one way, whether it is Bottlerocket's API or the host's own scripts. */
import type { UpdateView } from './update-status.ts';

export const COMMANDS = ['refresh', 'prepare', 'activate', 'deactivate', 'reboot'] as const;
export type CommandName = (typeof COMMANDS)[number];

/** What became of asking for a command. Accepted means only that it was started. */
export type CommandOutcome =
  | { kind: 'accepted' }
  /** 423: somebody's command is running. */
  | { kind: 'busy' }
  | { kind: 'refused'; status: number; message: string }
  /** The connection broke: it may have been accepted or not. A reboot often answers so. */
  | { kind: 'unclear'; message: string };

/** None of its calls throws, but for `settings`. */
export type UpdateDriver = {
  look(): Promise<UpdateView>;
  command(name: CommandName): Promise<CommandOutcome>;
  /** The running version. */
  version(): Promise<{ version: string } | { unavailable: string }>;
  /** Every setting of the node. Throws a Host error when they cannot be read. */
  settings(): Promise<unknown>;
  /** settings.updates.version-lock; null when it cannot be read. */
  versionLock(): Promise<string | null>;
  /** Sets it; null when that went well, else what went wrong. It shows in the refreshes that come some time after. */
  lockVersion(version: string): Promise<string | null>;
};

/** The version-lock of a host that takes the newest version there is. */
export const LATEST = 'latest';
