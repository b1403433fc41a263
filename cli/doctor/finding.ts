/** What `holdoff doctor` says of each thing that it looks at. */

/** In the order in which they are shown: what the next ones need comes first. */
export const CHECKS = [
  'credentials',
  'endpoint',
  'clock',
  'access',
  'sweep',
  'schedules',
  'agents',
  'alarms',
  'dead letters',
  'documents',
  'quotas',
] as const;
export type Check = (typeof CHECKS)[number];

/** `unchecked`: it could not be looked at, and `found` says why; that is neither well nor ill. */
export type FindingStatus = 'ok' | 'warn' | 'fail' | 'unchecked';

export type Finding = {
  readonly check: Check;
  readonly status: FindingStatus;
  readonly found: string;
  /** What to do about it; what is ok has none. */
  readonly remedy?: string;
};

export const ok = (check: Check, found: string): Finding => ({ check, status: 'ok', found });
export const warn = (check: Check, found: string, remedy: string): Finding => ({
  check,
  status: 'warn',
  found,
  remedy,
});
export const fail = (check: Check, found: string, remedy: string): Finding => ({
  check,
  status: 'fail',
  found,
  remedy,
});
export const unchecked = (check: Check, found: string, remedy?: string): Finding => ({
  check,
  status: 'unchecked',
  found,
  ...(remedy === undefined ? {} : { remedy }),
});
