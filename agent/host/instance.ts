/** One life of a VM as this host remembers it. Every function is pure: a record goes in, a record comes out. */
import { constants } from 'node:os';
import * as z from 'zod/mini';
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import type { HostVm, LaunchAnswer } from '../../core/contract/agent-answers.ts';
import { END_CAUSES, type EndCause, type ReportedPhase } from '../../core/contract/words.ts';

const FORMAT = 1;

/** What can run an instance: the types of launch definitions. */
export const DRIVERS = ['exec', 'qemu', 'libvirt'] as const;
export type Driver = (typeof DRIVERS)[number];

export const instanceSchema = z.object({
  format: z.literal(FORMAT),
  vmId: z.string(),
  /** Null when the record was unreadable and only the ids are known. */
  uid: z.nullable(z.string()),
  instanceId: z.string(),
  graceMs: z.number(),
  acceptedAt: z.number(),
  /** By when it must be Running; null when there is no deadline. */
  deadlineAt: z.nullable(z.number()),
  /** Set before the process is started: from here on it may exist. */
  launchingAt: z.nullable(z.number()),
  /** The wrapper that leads the instance's own session, and the boot it lives in. */
  process: z.nullable(z.object({ pid: z.number(), startTime: z.string(), bootId: z.string() })),
  runningAt: z.nullable(z.number()),
  /** What runs it here; records of agents before 0.2 hold none, and those ran exec only. */
  driver: z._default(z.enum(DRIVERS), 'exec'),
  /** The libvirt domain it is, and which of its lives: the id that libvirt gave it at its start, in which boot. */
  domain: z._default(
    z.nullable(z.object({ name: z.string(), life: z.nullable(z.object({ id: z.string(), bootId: z.string() })) })),
    null,
  ),
  /** How the hypervisor says the guest has ended, kept before the hypervisor itself is ended. */
  guestEnd: z._default(z.nullable(z.object({ cause: z.enum(END_CAUSES), message: z.string() })), null),
  /** We are ending it. */
  stop: z.nullable(z.object({ cause: z.enum(END_CAUSES), killAt: z.number(), forced: z.boolean() })),
  end: z.nullable(
    z.object({
      phase: z.enum(['Succeeded', 'Failed']),
      cause: z.enum(END_CAUSES),
      message: z.string(),
      console: z.nullable(z.string()),
      at: z.number(),
    }),
  ),
  /** What the control plane has acknowledged. */
  told: z.object({ scheduled: z.boolean(), running: z.boolean(), end: z.boolean() }),
});
export type Instance = z.infer<typeof instanceSchema>;

/** What an instance is known by; neither id can hold '@' (core/kit/ids.ts). */
export type InstanceKey = string;
export const keyOf = ({ vmId, instanceId }: { vmId: string; instanceId: string }): InstanceKey =>
  `${vmId}@${instanceId}`;

/** How a process ended; null parts are not known. */
export type Exit = { code: number | null; signal: string | null };

/** An instance that this host takes on. */
export const accepted = (answer: LaunchAnswer, now: number): Instance => ({
  format: FORMAT,
  vmId: answer.vmId,
  uid: answer.uid,
  instanceId: answer.instanceId,
  graceMs: answer.graceSeconds * 1000,
  acceptedAt: now,
  deadlineAt: answer.startDeadlineSeconds === null ? null : now + answer.startDeadlineSeconds * 1000,
  launchingAt: null,
  process: null,
  runningAt: null,
  driver: answer.launch.type,
  domain: answer.launch.type === 'libvirt' ? { name: answer.launch.domain, life: null } : null,
  guestEnd: null,
  stop: null,
  end: null,
  told: { scheduled: false, running: false, end: false },
});

/** An instance that was to end before this host had taken it on: remembered, so that it never starts. */
export const neverLaunched = (item: HostVm, now: number): Instance => ({
  format: FORMAT,
  vmId: item.vmId,
  uid: item.uid,
  instanceId: item.instanceId,
  graceMs: 0,
  acceptedAt: now,
  deadlineAt: null,
  launchingAt: null,
  process: null,
  runningAt: null,
  driver: 'exec',
  domain: null,
  guestEnd: null,
  stop: null,
  end: { phase: 'Succeeded', cause: 'Requested', message: 'ended before it was launched', console: null, at: now },
  told: { scheduled: true, running: false, end: false },
});

/** What is left of an instance whose record cannot be read: it was launched once, and must not be again. */
export const recovered = (
  { vmId, instanceId }: { vmId: string; instanceId: string },
  driver: Driver,
  now: number,
): Instance => ({
  format: FORMAT,
  vmId,
  uid: null,
  instanceId,
  graceMs: 0,
  acceptedAt: now,
  deadlineAt: null,
  launchingAt: now,
  process: null,
  runningAt: now,
  driver,
  domain: null,
  guestEnd: null,
  stop: null,
  end: null,
  told: { scheduled: true, running: true, end: false },
});

export const isLive = (instance: Instance): boolean => instance.end === null;

/** The end without a process: refused, simulated, or interrupted before it began. */
export function endedUnlaunched(instance: Instance, cause: EndCause, message: string, now: number): Instance {
  const phase = cause === 'Requested' || cause === 'HostMaintenance' ? 'Succeeded' : 'Failed';
  return { ...instance, end: { phase, cause, message, console: null, at: now } };
}

/**
 * The end of a process. What we ended has our cause; then what the hypervisor said of its guest holds; an exit of 0 is
 * the guest's own shutdown, except QEMU's, which leaves so only when it was told to by a signal; anything else is
 * Killed once it had been Running, and LaunchFailed before.
 */
export function ended(instance: Instance, exit: Exit, console: string, now: number): Instance {
  const { stop, guestEnd } = instance;
  const said = guestEnd?.message ?? sayExit(exit);
  const at = { console: console === '' ? null : console, at: now };
  if (stop !== null) {
    const asked = stop.cause === 'Requested' || stop.cause === 'HostMaintenance';
    const message = stop.forced && asked ? `killed after its grace: ${said}` : said;
    const phase = asked && !stop.forced ? 'Succeeded' : 'Failed';
    return { ...instance, end: { phase, cause: stop.cause, message, ...at } };
  }
  const own = guestEnd?.cause ?? (exit.code === 0 && instance.driver === 'exec' ? 'GuestShutdown' : null);
  if (own !== null) {
    // It was up, however shortly: the control plane hears of it before it hears of the end.
    const runningAt = instance.runningAt ?? now;
    const phase = own === 'GuestShutdown' ? 'Succeeded' : 'Failed';
    return { ...instance, runningAt, end: { phase, cause: own, message: said, ...at } };
  }
  if (instance.runningAt !== null)
    return { ...instance, end: { phase: 'Failed', cause: 'Killed', message: said, ...at } };
  const last = instance.driver === 'qemu' ? lastLine(console) : '';
  const message = last === '' ? said : `${said}: ${last}`;
  return { ...instance, end: { phase: 'Failed', cause: 'LaunchFailed', message, ...at } };
}

/** The line with which a hypervisor that refuses to start says why. */
const lastLine = (console: string): string => console.trimEnd().split('\n').at(-1)?.trim() ?? '';

function sayExit({ code, signal }: Exit): string {
  if (code !== null) {
    // A shell says 128 + n of a process that signal n has ended.
    const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
    return `exit code ${code}${code === 127 ? ' (command not found)' : name === undefined ? '' : ` (${name})`}`;
  }
  return signal === null ? 'the process is gone; how it ended was not seen' : `ended by ${signal}`;
}

/** Asks for the end; asked again, the earlier kill holds, and the first cause stays. */
export function stopping(instance: Instance, cause: EndCause, graceMs: number, now: number): Instance {
  const killAt = now + graceMs;
  const { stop } = instance;
  if (stop === null) return { ...instance, stop: { cause, killAt, forced: false } };
  return killAt < stop.killAt ? { ...instance, stop: { ...stop, killAt } } : instance;
}

/** What time brings to a live instance. */
export type Due = { kind: 'running' } | { kind: 'startDeadline' } | { kind: 'kill' };

/** The next thing time brings, and when; null when nothing is waited for. */
export function nextDue(instance: Instance, settleMs: number): { at: number; due: Due } | null {
  const { stop, runningAt, launchingAt, process, deadlineAt } = instance;
  if (!isLive(instance)) return null;
  if (stop !== null) return stop.forced ? null : { at: stop.killAt, due: { kind: 'kill' } };
  if (runningAt !== null) return null;
  // Of a hypervisor's guest the hypervisor says itself when it runs.
  const settles = instance.driver === 'exec' && launchingAt !== null && process !== null;
  const settledAt = settles ? launchingAt + settleMs : Number.POSITIVE_INFINITY;
  if (deadlineAt !== null && deadlineAt < settledAt) return { at: deadlineAt, due: { kind: 'startDeadline' } };
  return Number.isFinite(settledAt) ? { at: settledAt, due: { kind: 'running' } } : null;
}

/** The phase a live instance is in; its final one after its end. */
export const phaseOf = ({ end, runningAt }: Instance): ReportedPhase =>
  end !== null ? end.phase : runningAt !== null ? 'Running' : 'Scheduled';

export type Told = keyof Instance['told'];

/** The report the control plane has not had yet, oldest first: Scheduled, then Running, then the end. */
export function untoldReport(instance: Instance): { told: Told; report: VmReport } | null {
  const { told, runningAt, end } = instance;
  if (!told.scheduled) return { told: 'scheduled', report: { ...named(instance), phase: 'Scheduled' } };
  if (runningAt !== null && !told.running) return { told: 'running', report: { ...named(instance), phase: 'Running' } };
  if (end === null || told.end) return null;
  return { told: 'end', report: reportOf(instance) };
}

/** The instance as it is now. */
export function reportOf(instance: Instance): VmReport {
  const { end } = instance;
  if (end === null) return { ...named(instance), phase: phaseOf(instance) };
  const { phase, cause, message, console } = end;
  return { ...named(instance), phase, cause, message, ...(console === null ? {} : { console }) };
}

const named = ({ instanceId, uid }: Instance): { instanceId: string; uid?: string } =>
  uid === null ? { instanceId } : { instanceId, uid };

/** Marks a report as acknowledged. */
export const markTold = (instance: Instance, told: Told): Instance => ({
  ...instance,
  told: { ...instance.told, [told]: true },
});
