/** What agents send: unknown fields are ignored, so that versions may differ (DESIGN section 6). */
import * as z from 'zod/mini';
import { groupId, instanceId, notTiny, shortText, UPTIME_MAX, vmId } from '../kit/schema.ts';
import { END_CAUSES, REPORTED_PHASES, REPORTED_STATES } from './words.ts';

/** A length of time in seconds, as a steady clock on a host measures it. */
const seconds = () => z.number().check(z.nonnegative(), z.lte(UPTIME_MAX), notTiny());

export const updateCheckSchema = /* @__PURE__ */ z.lazy(() =>
  z.object({
    result: z.enum(['UpToDate', 'Available', 'Failed']),
    version: z.optional(shortText()),
    message: z.optional(z.string()),
  }),
);
export type UpdateCheck = z.infer<typeof updateCheckSchema>;

/** What a host says of one instance that it runs, in its node's report. */
export const instanceSeenSchema = /* @__PURE__ */ z.lazy(() =>
  z.object({
    vmId: vmId(),
    instanceId: instanceId(),
    phase: z.enum(REPORTED_PHASES),
    /** How long it has been Running, by the host's steady clock; what did not count as Running is left out. */
    ranSeconds: z.optional(seconds()),
    /** What the host holds the instance by (section 3 rule 6). */
    leaseSeconds: z.optional(seconds()),
    graceSeconds: z.optional(seconds()),
    /** How often the guest has reset itself in this life. */
    resets: z.optional(z.int().check(z.nonnegative())),
    /** Why the guest does not run although its instance is Running: one of `CONDITIONS`, or words of a newer agent. */
    condition: z.optional(shortText()),
  }),
);
export type InstanceSeen = z.infer<typeof instanceSeenSchema>;

/** What runs on a host although it should not, or may begin to by itself. */
export const unexpectedSchema = /* @__PURE__ */ z.lazy(() =>
  z.object({
    name: shortText(),
    vmId: z.optional(vmId()),
    instanceId: z.optional(instanceId()),
    autostart: z.optional(z.boolean()),
  }),
);
export type Unexpected = z.infer<typeof unexpectedSchema>;

export const nodeReportSchema = /* @__PURE__ */ z.lazy(() =>
  z.object({
    generation: z.optional(z.int().check(z.nonnegative())),
    state: z.enum(REPORTED_STATES),
    bootId: shortText(),
    currentVersion: shortText(),
    updateCheck: updateCheckSchema,
    error: z.optional(z.object({ reason: z.string(), message: z.optional(z.string()) })),
    group: z.optional(groupId()),
    agentVersion: z.optional(shortText()),
    uptime: z.optional(z.number().check(z.nonnegative(), z.lte(UPTIME_MAX), notTiny())),
    progress: z.optional(z.union([z.string(), z.number(), z.record(z.string(), z.unknown())])),
    drain: z.optional(z.object({ blockedBy: z.optional(z.union([z.string(), z.array(z.string())])) })),
    /** The failure domain it runs in; without one it is in a zone of its own. */
    zone: z.optional(shortText()),
    /** It was told to reboot, and heard of it too late to begin (`desired.beginWithinSeconds`). */
    notBegun: z.optional(z.boolean()),
    instances: z.optional(z.array(instanceSeenSchema).check(z.maxLength(1000))),
    unexpected: z.optional(z.array(unexpectedSchema).check(z.maxLength(100))),
    /** Of the list of VMs that it last acted on. */
    vmsTag: z.optional(shortText()),
  }),
);
export type NodeReport = z.infer<typeof nodeReportSchema>;

export const vmReportSchema = /* @__PURE__ */ z.lazy(() =>
  z.object({
    instanceId: instanceId(),
    uid: z.optional(shortText()),
    phase: z.enum(REPORTED_PHASES),
    cause: z.optional(z.enum(END_CAUSES)),
    message: z.optional(z.string()),
    console: z.optional(z.string()),
    /** As in the node's report: how long it had been Running when it ended, or has been by now. */
    ranSeconds: z.optional(seconds()),
  }),
);
export type VmReport = z.infer<typeof vmReportSchema>;
