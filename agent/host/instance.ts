/** One life of a VM as this host remembers it. Every function is pure: a record goes in, a record comes out. */
import * as z from 'zod/mini';
import type { HostVm, LaunchAnswer } from '../../core/contract/agent-answers.ts';
import { CONDITIONS, END_CAUSES, type EndCause, type ReportedPhase } from '../../core/contract/words.ts';
import { type Terms, termsOf, termsSchema } from './terms.ts';

const FORMAT = 1;

/** What can run an instance: the types of launch definitions. */
export const LAUNCH_TYPES = ['exec', 'qemu', 'libvirt'] as const;
export type LaunchType = (typeof LAUNCH_TYPES)[number];

/** Instants are of the boot clock, in milliseconds; those of another boot are compared with nothing. */
export const instanceSchema = z.object({
  format: z.literal(FORMAT),
  /** Agents of earlier releases measured by the time of day: such a record is set right when it is read. */
  clock: z._default(z.enum(['wall', 'boot']), 'wall'),
  vmId: z.string(),
  /** Null when the record was unreadable and only the ids are known. */
  uid: z.nullable(z.string()),
  instanceId: z.string(),
  /** Counts the instances that this host has taken on: instants of two boots have no order. */
  order: z._default(z.number(), 0),
  /** The boot in which it was taken on; null in a record of an earlier release. */
  bootId: z._default(z.nullable(z.string()), null),
  graceMs: z.number(),
  acceptedAt: z.number(),
  /** By when it must be Running; null when there is no deadline. */
  deadlineAt: z.nullable(z.number()),
  /** Set before the process is started: from here on it may exist. */
  launchingAt: z.nullable(z.number()),
  /** The wrapper that leads the instance's own session, and the boot it lives in. */
  process: z.nullable(z.object({ pid: z.number(), startTime: z.string(), bootId: z.string() })),
  runningAt: z.nullable(z.number()),
  /** Why the guest does not run although the instance is Running, and since when (DESIGN section 3 rule 11). */
  condition: z._default(z.nullable(z.object({ kind: z.enum(CONDITIONS), since: z.number() })), null),
  /** How long such conditions lasted that are over: time that is no Running. */
  idleMs: z._default(z.number(), 0),
  /** How often the guest has reset itself, and when: the last of them. */
  resets: z._default(z.object({ count: z.number(), at: z.array(z.number()) }), { count: 0, at: [] }),
  /** What runs it here; the name is that of earlier releases, and before 0.2 all were exec. */
  driver: z._default(z.enum(LAUNCH_TYPES), 'exec'),
  /** The libvirt domain it is, and which of its lives: the id that libvirt gave it at its start, in which boot. */
  domain: z._default(
    z.nullable(z.object({ name: z.string(), life: z.nullable(z.object({ id: z.string(), bootId: z.string() })) })),
    null,
  ),
  /** How the hypervisor says the guest has ended, kept before the hypervisor itself is ended; and when, if it is known. */
  guestEnd: z._default(
    z.nullable(z.object({ cause: z.enum(END_CAUSES), message: z.string(), at: z.optional(z.number()) })),
    null,
  ),
  /** When it counts as unhealthy, and how it is asked; null in a record of an earlier release. */
  terms: z._default(z.nullable(termsSchema), null),
  /** By what this host holds it: from when, on the boot clock, and for how long (DESIGN section 3 rule 6). */
  lease: z._default(z.nullable(z.object({ ms: z.number(), from: z.number() })), null),
  /** Whether its wrapper is a dead-man's switch too; those of earlier releases were none. */
  guarded: z._default(z.boolean(), false),
  /** We are ending it. */
  stop: z.nullable(
    z.object({
      cause: z.enum(END_CAUSES),
      killAt: z.number(),
      forced: z.boolean(),
      /** Since when; a record of an earlier release does not say. */
      at: z.optional(z.number()),
    }),
  ),
  end: z.nullable(
    z.object({
      phase: z.enum(['Succeeded', 'Failed']),
      cause: z.enum(END_CAUSES),
      message: z.string(),
      console: z.nullable(z.string()),
      at: z.number(),
      /** How long it had been Running; null when nobody knows. */
      ranMs: z._default(z.nullable(z.number()), null),
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

/** When and in which boot something is done. */
export type Moment = { readonly now: number; readonly bootId: string | null };

type Begin = {
  vmId: string;
  uid: string | null;
  instanceId: string;
  driver: LaunchType;
  graceMs: number;
  terms: Terms | null;
};

const begun = (begin: Begin, { now, bootId }: Moment): Instance => ({
  ...begin,
  format: FORMAT,
  clock: 'boot',
  order: 0,
  bootId,
  acceptedAt: now,
  deadlineAt: null,
  launchingAt: null,
  process: null,
  runningAt: null,
  condition: null,
  idleMs: 0,
  resets: { count: 0, at: [] },
  domain: null,
  guestEnd: null,
  lease: null,
  guarded: false,
  stop: null,
  end: null,
  told: { scheduled: false, running: false, end: false },
});

/** An instance that this host takes on; `askedAt` is when its launch definition was asked for. */
export function accepted(answer: LaunchAnswer, moment: Moment, askedAt: number = moment.now): Instance {
  const { vmId, uid, instanceId, launch, graceSeconds, startDeadlineSeconds, leaseSeconds } = answer;
  const begin = { vmId, uid, instanceId, driver: launch.type, graceMs: graceSeconds * 1000, terms: termsOf(answer) };
  return {
    ...begun(begin, moment),
    deadlineAt: startDeadlineSeconds === null ? null : moment.now + startDeadlineSeconds * 1000,
    domain: launch.type === 'libvirt' ? { name: launch.domain, life: null } : null,
    lease: leaseSeconds === undefined ? null : { ms: leaseSeconds * 1000, from: askedAt },
    guarded: true,
  };
}

/** An instance that was to end before this host had taken it on: remembered, so that it never starts. */
export function neverLaunched({ vmId, uid, instanceId }: HostVm, moment: Moment): Instance {
  const message = 'ended before it was launched';
  return {
    ...begun({ vmId, uid, instanceId, driver: 'exec', graceMs: 0, terms: null }, moment),
    end: { phase: 'Succeeded', cause: 'Requested', message, console: null, at: moment.now, ranMs: null },
    told: { scheduled: true, running: false, end: false },
  };
}

/** What is left of an instance whose record cannot be read: it was launched once, and must not be again. */
export const recovered = (
  { vmId, instanceId }: { vmId: string; instanceId: string },
  driver: LaunchType,
  moment: Moment,
): Instance => ({
  ...begun({ vmId, uid: null, instanceId, driver, graceMs: 0, terms: null }, moment),
  launchingAt: moment.now,
  runningAt: moment.now,
  told: { scheduled: true, running: true, end: false },
});

/** A record that was written by the time of day, as the boot clock has it; `wallNow` and `now` are one moment. */
export function onBootClock(instance: Instance, now: number, wallNow: number): Instance {
  if (instance.clock === 'boot') return instance;
  const moved = (at: number): number => at - wallNow + now;
  const maybe = (at: number | null): number | null => (at === null ? null : moved(at));
  const { stop, end } = instance;
  return {
    ...instance,
    clock: 'boot',
    acceptedAt: moved(instance.acceptedAt),
    deadlineAt: maybe(instance.deadlineAt),
    launchingAt: maybe(instance.launchingAt),
    runningAt: maybe(instance.runningAt),
    stop: stop === null ? null : { ...stop, killAt: moved(stop.killAt) },
    end: end === null ? null : { ...end, at: moved(end.at) },
  };
}

export const isLive = (instance: Instance): boolean => instance.end === null;

/** Asks for the end; asked again, the earlier kill holds, and the first cause stays. */
export function stopping(instance: Instance, cause: EndCause, graceMs: number, now: number): Instance {
  const killAt = now + graceMs;
  const { stop } = instance;
  if (stop === null) return { ...instance, stop: { cause, killAt, forced: false, at: now } };
  return killAt < stop.killAt ? { ...instance, stop: { ...stop, killAt } } : instance;
}

/** What time brings to a live instance. */
export type Due = { kind: 'running' | 'startDeadline' | 'kill' | 'leaseOver' | 'unhealthy' };

/** The next thing time brings, and when; null when nothing is waited for. */
export function nextDue(instance: Instance, settleMs: number): { at: number; due: Due } | null {
  const { stop } = instance;
  if (!isLive(instance)) return null;
  if (stop !== null) return stop.forced ? null : { at: stop.killAt, due: { kind: 'kill' } };
  const dues = [...startDues(instance, settleMs), ...lifeDues(instance)];
  return dues.toSorted((a, b) => a.at - b.at)[0] ?? null;
}

function startDues({ runningAt, launchingAt, process, deadlineAt, driver }: Instance, settleMs: number) {
  if (runningAt !== null) return [];
  // Of a hypervisor's guest the hypervisor says itself when it runs.
  const settles = driver === 'exec' && launchingAt !== null && process !== null;
  return [
    ...(deadlineAt === null ? [] : [due('startDeadline', deadlineAt)]),
    ...(settles ? [due('running', launchingAt + settleMs)] : []),
  ];
}

function lifeDues({ lease, condition, terms }: Instance) {
  const patienceMs = terms === null ? UNRESPONSIVE_MS : terms.unresponsiveMs;
  // What a person suspended is left alone (DESIGN section 3 rule 11).
  const ends = condition !== null && condition.kind !== 'Suspended' && patienceMs !== null;
  return [
    ...(lease === null ? [] : [due('leaseOver', lease.from + lease.ms)]),
    ...(ends ? [due('unhealthy', condition.since + patienceMs)] : []),
  ];
}

/** DESIGN section 3 rule 11: the default of `unresponsiveFor`. */
export const UNRESPONSIVE_MS = 5 * 60_000;

const due = (kind: Due['kind'], at: number): { at: number; due: Due } => ({ at, due: { kind } });

/** The phase a live instance is in; its final one after its end. */
export const phaseOf = ({ end, runningAt }: Instance): ReportedPhase =>
  end?.phase ?? (runningAt === null ? 'Scheduled' : 'Running');
