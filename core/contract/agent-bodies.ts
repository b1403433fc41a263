/** What agents send: unknown fields are ignored, so that versions may differ (DESIGN section 6). */
import * as z from 'zod/mini';
import { groupId, instanceId, notTiny, shortText, UPTIME_MAX } from '../kit/schema.ts';
import { END_CAUSES, REPORTED_PHASES, REPORTED_STATES } from './words.ts';

export const updateCheckSchema = z.object({
  result: z.enum(['UpToDate', 'Available', 'Failed']),
  version: z.optional(shortText()),
  message: z.optional(z.string()),
});
export type UpdateCheck = z.infer<typeof updateCheckSchema>;

export const nodeReportSchema = z.object({
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
});
export type NodeReport = z.infer<typeof nodeReportSchema>;

export const vmReportSchema = z.object({
  instanceId: instanceId(),
  uid: z.optional(shortText()),
  phase: z.enum(REPORTED_PHASES),
  cause: z.optional(z.enum(END_CAUSES)),
  message: z.optional(z.string()),
  console: z.optional(z.string()),
});
export type VmReport = z.infer<typeof vmReportSchema>;
