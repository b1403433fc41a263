/** The control plane's answers, read the way an old agent must: unknown fields are left alone, wrong ones refused. */
import * as z from 'zod/mini';
import type { HostVm, LaunchAnswer, VmReportAnswer } from '../../core/contract/agent-answers.ts';
import { NODE_STATES } from '../../core/contract/words.ts';
import { INSTANCE_ID_RULE, NAME_RULE, parseInstanceId, parseVmId } from '../../core/kit/ids.ts';
import { AgentError } from '../failure.ts';
import { readDrainPlan } from '../node/drain-record.ts';
import { readMonitorPlan } from '../node/monitor-record.ts';
import type { Prompt } from '../host/listing.ts';
import type { DesiredStep, NodeAnswer } from '../node/wanted.ts';

const power = z.enum(['on', 'off']);
// Both ids become file names on this host, so their form is checked here and not left to the sender.
const vmId = z.string().check(z.refine((text) => parseVmId(text) !== null, `must be ${NAME_RULE}`));
const instanceId = z.string().check(z.refine((text) => parseInstanceId(text) !== null, `must be ${INSTANCE_ID_RULE}`));
const count = z.int().check(z.nonnegative());

const nodeReportAnswer = z.object({
  api: z.string(),
  desired: z.object({
    state: z.string(),
    version: z.nullable(z.string()),
    generation: count,
    drain: z.optional(z.unknown()),
    monitor: z.optional(z.unknown()),
    withinSeconds: z.exactOptional(z.number().check(z.nonnegative())),
    soakSeconds: z.exactOptional(z.number().check(z.nonnegative())),
    beginWithinSeconds: z.exactOptional(z.number().check(z.nonnegative())),
    pin: z.exactOptional(z.string()),
  }),
  reportEverySeconds: z.number().check(z.positive()),
  leaseSeconds: z.optional(z.number().check(z.positive())),
  vmsTag: z.optional(z.string()),
  // Only a prompt: one that cannot be read is asked about.
  vms: z.optional(z.unknown()),
});
const hostVm = z.object({
  vmId,
  uid: z.string(),
  power,
  instanceId,
  launchRevision: z.number(),
  graceSeconds: z.optional(z.number().check(z.nonnegative())),
  leaseSeconds: z.optional(z.number().check(z.positive())),
  consoleAsked: z.optional(z.boolean()),
});
const hostVmsAnswer = z.object({ api: z.string(), items: z.array(hostVm) });
const vmReportAnswer = z.object({
  api: z.string(),
  desired: z.object({ power, instanceId: z.string(), graceSeconds: z.optional(z.number().check(z.nonnegative())) }),
});
// Read as it comes, however odd: what this host does not run is said to be LaunchFailed, and not asked for again and again.
const launch = z.discriminatedUnion('type', [
  z.object({ type: z.literal('libvirt'), domain: z.string() }),
  z.object({ type: z.literal('qemu'), args: z.array(z.string()) }),
  z.object({ type: z.literal('exec'), command: z.union([z.string(), z.array(z.string()).check(z.minLength(1))]) }),
]);
const launchAnswer = z.object({
  api: z.string(),
  vmId,
  uid: z.string(),
  instanceId,
  launchRevision: z.number(),
  launch,
  simulateCrash: z.boolean(),
  graceSeconds: z.number().check(z.nonnegative()),
  startDeadlineSeconds: z.nullable(z.number()),
  leaseSeconds: z.optional(z.number().check(z.positive())),
  stableFor: z.optional(z.string()),
  unresponsiveFor: z.optional(z.string()),
  resetLimit: z.optional(z.nullable(count)),
  // A probe that this agent cannot read is no reason not to run the guest.
  liveness: z.optional(z.unknown()),
  restartElsewhere: z.optional(z.boolean()),
});
const livenessProbe = z.object({
  tcp: z.optional(z.union([z.string(), z.int()])),
  http: z.optional(z.string()),
  every: z.optional(z.string()),
  failures: z.optional(z.int().check(z.positive())),
});
const problem = z.object({ code: z.string(), detail: z.optional(z.string()), title: z.optional(z.string()) });

function read<T extends z.ZodMiniType>(schema: T, what: string, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new AgentError('Protocol', `${what}: ${z.prettifyError(parsed.error)}`);
}

/** However it is answered, a node reports at a pace that neither floods the control plane nor forgets it. */
const REPORT_SECONDS_MIN = 0.1;
const REPORT_SECONDS_MAX = 3600;

/** What a node's report is answered with. ErrorReset can never be asked for: that is a typed Assertion error. */
export function readNodeAnswer(body: unknown): NodeAnswer {
  const answer = read(nodeReportAnswer, 'the answer to a node report', body);
  const { api, reportEverySeconds, leaseSeconds } = answer;
  const pace = Math.min(REPORT_SECONDS_MAX, Math.max(REPORT_SECONDS_MIN, reportEverySeconds));
  const listing = readPrompt(answer.vmsTag, answer.vms);
  return { api, reportEverySeconds: pace, desired: readDesired(answer.desired), listing, ...present({ leaseSeconds }) };
}

function readPrompt(tag: string | undefined, vms: unknown): Prompt | null {
  if (tag === undefined) return null;
  if (vms === undefined) return { tag, items: null };
  const items = z.array(hostVm).safeParse(vms);
  return items.success ? { tag, items: items.data.map(withoutAbsent) } : null;
}

function readDesired(desired: z.infer<typeof nodeReportAnswer>['desired']): DesiredStep {
  const state = NODE_STATES.find((known) => known === desired.state);
  if (state !== undefined) {
    const { drain, monitor, state: _said, version, generation, ...times } = desired;
    const plans = { drain: readDrainPlan(drain), monitor: readMonitorPlan(monitor) };
    return { state, version, generation, ...plans, ...times };
  }
  if (desired.state === 'ErrorReset') {
    throw new AgentError('Assertion', 'the control plane asks for ErrorReset, which only an agent can report');
  }
  throw new AgentError('Protocol', `the control plane asks for ${desired.state}, which this agent does not know`);
}

/** exactOptionalPropertyTypes: what is missing is absent in our types, not undefined. */
type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };
function present<T extends object>(fields: T): Partial<Present<T>> {
  // Holds: only entries that are not undefined are kept.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Present<T>>;
}

/** What should run on this host. */
export function readHostVms(body: unknown): HostVm[] {
  return read(hostVmsAnswer, 'the list of VMs', body).items.map(withoutAbsent);
}

const withoutAbsent = ({ graceSeconds, leaseSeconds, consoleAsked, ...item }: z.infer<typeof hostVm>): HostVm => ({
  ...item,
  ...present({ graceSeconds, leaseSeconds, consoleAsked }),
});

/** What a VM's report is answered with. */
export function readVmAnswer(body: unknown): VmReportAnswer {
  const { api, desired } = read(vmReportAnswer, 'the answer to a VM report', body);
  const { power: wanted, instanceId: named, graceSeconds } = desired;
  return { api, desired: { power: wanted, instanceId: named, ...present({ graceSeconds }) } };
}

/** A launch definition, with the terms on which its guest runs. */
export function readLaunch(body: unknown): LaunchAnswer {
  const answer = read(launchAnswer, 'the launch definition', body);
  const { leaseSeconds, stableFor, unresponsiveFor, resetLimit, liveness, restartElsewhere, ...rest } = answer;
  const limit = resetLimit === null ? undefined : resetLimit;
  const probe = livenessProbe.safeParse(liveness);
  return {
    ...rest,
    ...present({ leaseSeconds, stableFor, unresponsiveFor, resetLimit: limit, restartElsewhere }),
    ...(probe.success ? { liveness: present(probe.data) } : {}),
  };
}

/** The code and text of a problem document; nulls when the body is something else. */
export function readProblem(body: unknown): { code: string | null; text: string | null } {
  const parsed = problem.safeParse(body);
  return parsed.success
    ? { code: parsed.data.code, text: parsed.data.detail ?? parsed.data.title ?? null }
    : { code: null, text: null };
}
