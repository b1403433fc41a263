/** Parsing what queues and timers bring. A message that cannot be read is an error, so that it ends in a dead-letter queue. */
import * as z from 'zod/mini';
import { parseNodeId } from '../core/kit/ids.ts';
import { parseRef } from '../core/kit/ref.ts';
import { instant, type Instant, parseInstant } from '../core/kit/time.ts';
import type { AlarmEvent } from './operations/alarms.ts';
import type { MachineEvent } from './operations/lifecycle.ts';
import type { Ref } from './ports.ts';

const firing = z.object({ kind: z.enum(['node', 'vm', 'group']), id: z.string(), at: z.number() });
/** A wake for a VM names no generation; a release before this wrote 0 for that. */
const wake = z.object({ nodeId: z.string(), generation: z.nullish(z.int()) });

/** A wake on its way: whom, and for which generation of its spec; null: for a VM there, which names none. */
export type WakeMessage = { nodeId: string; generation: number | null };

/** A message that is none of ours. */
export class MessageError extends Error {
  readonly code = 'Message';
}

/** @throws {MessageError} */
export function parseFiring(value: unknown): { ref: Ref; at: Instant } {
  const parsed = z.safeParse(firing, value);
  if (!parsed.success) throw new MessageError(`not a firing: ${JSON.stringify(value)}`);
  const ref = parseRef(parsed.data.kind, parsed.data.id);
  if (ref === null) throw new MessageError(`a firing for a malformed id: ${JSON.stringify(value)}`);
  return { ref, at: instant(parsed.data.at) };
}

/** @throws {MessageError} */
export function parseWake(body: string): WakeMessage {
  const parsed = z.safeParse(wake, parseJson(body));
  if (!parsed.success) throw new MessageError(`not a wake: ${body}`);
  const { nodeId, generation } = parsed.data;
  return { nodeId, generation: generation === 0 ? null : (generation ?? null) };
}

/** @throws {MessageError} */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MessageError(`not JSON: ${text}`);
  }
}

const ec2StateChange = z.object({
  source: z.literal('aws.ec2'),
  'detail-type': z.literal('EC2 Instance State-change Notification'),
  time: z.string(),
  detail: z.object({ 'instance-id': z.string(), state: z.enum(['stopped', 'running', 'terminated']) }),
});
/** There is no event of SSM's own for this; CloudTrail tells of the call, also of one that was refused. */
const deregistration = z.object({
  source: z.literal('aws.ssm'),
  'detail-type': z.literal('AWS API Call via CloudTrail'),
  time: z.string(),
  detail: z.object({
    eventName: z.literal('DeregisterManagedInstance'),
    requestParameters: z.object({ instanceId: z.string() }),
    errorCode: z.optional(z.nullable(z.string())),
  }),
});

const alarmChange = z.object({
  source: z.literal('aws.cloudwatch'),
  'detail-type': z.literal('CloudWatch Alarm State Change'),
  detail: z.object({
    alarmName: z.string(),
    state: z.object({ value: z.string(), timestamp: z.string() }),
  }),
});

/** What EventBridge says of a CloudWatch alarm; null for any other event. Any state but ALARM is none that halts. */
export function parseAlarmEvent(value: unknown): AlarmEvent | null {
  const parsed = z.safeParse(alarmChange, value);
  if (!parsed.success) return null;
  const { alarmName: name, state } = parsed.data.detail;
  // CloudWatch writes an offset of +0000, without the colon that RFC 3339 has.
  const at = parseInstant(state.timestamp.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return at === null ? null : { name, state: state.value === 'ALARM' ? 'ALARM' : 'OK', at };
}

/** What EventBridge says of a machine; null for any other event, for other states, and for ids that are no node's. */
export function parseMachineEvent(value: unknown): MachineEvent | null {
  const ec2 = z.safeParse(ec2StateChange, value);
  if (ec2.success) {
    const { time, detail } = ec2.data;
    return machineEvent(detail['instance-id'], detail.state, time);
  }
  const ssm = z.safeParse(deregistration, value);
  if (!ssm.success || (ssm.data.detail.errorCode ?? '') !== '') return null;
  return machineEvent(ssm.data.detail.requestParameters.instanceId, 'deregistered', ssm.data.time);
}

function machineEvent(id: string, kind: MachineEvent['kind'], time: string): MachineEvent | null {
  const nodeId = parseNodeId(id);
  const at = parseInstant(time);
  return nodeId === null || at === null ? null : { nodeId, kind, at };
}
