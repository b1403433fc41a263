/**
 * Many nodes that enrol at the same instant with an update offered, on virtual AWS with its limits: what one key takes in
 * a second, and the 15 and 30 seconds that a request and a timer get (DESIGN section 10).
 */
import type { HandlerName } from '../core/contract/names.ts';
import { DEFAULT_GROUP } from '../core/kit/ids.ts';
import { KeyLimits, sizeOf } from './aws/limits.ts';
import { type Called, Deployment } from './deployment.ts';
import { nodeIdentity, OPERATOR } from './environment.ts';
import { type Invocation, Kernel } from './kernel.ts';
import { seededRandom } from './random.ts';
import { peek, recordOf } from './records.ts';
import type { Answer } from './requests.ts';

/** After so many seconds Lambda ends an invocation, as the stack asks it to. */
const TIMEOUTS: Readonly<Record<HandlerName, number>> = {
  api: 15,
  timer: 30,
  command: 60,
  status: 30,
  lifecycle: 30,
  sweep: 180,
  log: 15,
};

const START = Date.parse('2026-01-05T00:00:00Z');

export type HerdOptions = {
  nodes: number;
  limit: number;
  seed: number;
  /** All arrive within so many milliseconds. */
  withinMs?: number;
  /** The group is paused until all have enrolled and is then resumed; or it is paused while it is being filled. */
  operator?: 'resume' | 'pause';
};

export type Herd = {
  /** By status; 0: no answer in the time of a request. */
  answers: Map<number, number>;
  /** The slowest answer to a node, in milliseconds. */
  slowestMs: number;
  /** How many were told to start in the answer to their report. */
  told: number;
  slots: number;
  /** How many nodes are stored: who was refused is not. */
  enrolled: number;
  /** How many nodes began, and how many of them after the pause was answered. */
  begun: number;
  begunAfterVerb: number;
  /** From the first report (or the resume) until the last slot was taken. */
  slotsTakenMs: number;
  requests: number;
  /** Requests by name. */
  byCall: Map<string, number>;
  /** The answer to the operator, how long it took and how many requests; null where none was made. */
  verb: { status: number; ms: number; requests: number } | null;
  /** Of the group's item, with its slots taken. */
  groupBytes: number;
};

const nodeIdOf = (index: number): string => `i-${(index + 1).toString(16).padStart(17, '0')}`;

export async function runHerd({ nodes, limit, seed, withinMs = 0, operator }: HerdOptions): Promise<Herd> {
  const draw = seededRandom(seed);
  const kernel = new Kernel(START, { latency: () => 3 + draw() * 9, lands: () => draw() >= 0.5 });
  const invocations: Invocation[] = [];
  let lastClaim = START;
  let slots = 0;
  let verb: Herd['verb'] = null as Herd['verb']; // assigned in the closures below
  const begun = new Set<string>();
  const enrolled = new Set<string>();
  let begunAfterVerb = 0;
  const deployment = new Deployment({
    kernel,
    seed,
    delays: {
      scheduler: () => draw() * 60_000,
      queue: () => 20 + draw() * 80,
      bus: () => draw() * 1000,
      command: () => 300 + draw() * 4000,
      index: () => 20 + draw() * 180,
    },
    trouble: { strikes: () => false, draw, limits: new KeyLimits() },
    fate: {
      kill: () => null,
      again: ({ handler }, attempt) => (handler === 'timer' && attempt < 4 ? 180_000 : null),
      began: ({ handler }: Called, self) => {
        invocations.push(self);
        kernel.in(TIMEOUTS[handler] * 1000, () => self.die());
      },
      died: () => undefined,
    },
    logs: false,
    // As `infra/commands.ts` deploys it.
    wakes: { size: 50, windowMs: 1_000 },
    outside: {
      woken: () => true,
      registered: () => true,
      written: (item) => {
        const record = recordOf(item);
        if (record?.kind === 'node') enrolled.add(record.nodeId);
        if (record?.kind === 'node' && record.attempt !== null && !begun.has(record.nodeId)) {
          begun.add(record.nodeId);
          if (verb !== null) begunAfterVerb += 1;
        }
        if (item['pk']?.S !== `group#${DEFAULT_GROUP}`) return;
        const taken = Object.keys(peek(deployment.services.table, 'group', DEFAULT_GROUP)?.slots ?? {}).length;
        if (taken > slots) lastClaim = kernel.now;
        slots = taken;
      },
    },
  });
  const call = async (method: string, path: string, iam: { userArn: string }, body?: unknown) => {
    const from = kernel.now;
    const called = { handler: 'api', path: `${method} ${path}`, certain: false } as const;
    const { answer, self } = await deployment.request({ method, path, body, iam }, called, 'short');
    return { answer, ms: kernel.now - from, requests: self.calls.length };
  };
  const answers: { answer: Answer | null; ms: number }[] = [];
  const operate = async (method: string, path: string, body?: unknown): Promise<NonNullable<Herd['verb']>> => {
    const { answer, ms, requests } = await call(method, path, OPERATOR, body);
    return { status: answer?.status ?? 0, ms, requests };
  };
  kernel.in(0, async () => void (await operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: limit })));
  if (operator === 'resume') kernel.in(1_000, async () => void (await operate('POST', '/v1/groups/default/pause')));
  await kernel.runTo(kernel.now + 10_000);
  invocations.length = 0;
  let from = kernel.now;
  for (let index = 0; index < nodes; index += 1) {
    const id = nodeIdOf(index);
    const updateCheck = { result: 'Available', version: '1.1' };
    const body = { state: 'Idle', bootId: 'b1', currentVersion: '1.0', updateCheck, uptime: 100 };
    kernel.in(draw() * withinMs, async () => {
      answers.push(await call('POST', `/v1/nodes/${id}/reports`, nodeIdentity(id), body));
    });
  }
  const pause = async (): Promise<void> => void (verb = await operate('POST', '/v1/groups/default/pause'));
  if (operator === 'pause') kernel.in(withinMs * 1.5, pause);
  await kernel.runTo(from + withinMs + 60_000);
  if (operator === 'resume') {
    invocations.length = 0;
    from = kernel.now;
    lastClaim = from;
    kernel.in(0, async () => void (verb = await operate('POST', '/v1/groups/default/resume')));
    await kernel.runTo(from + 60_000);
  }
  return {
    answers: countBy(answers.map(({ answer }) => answer?.status ?? 0)),
    slowestMs: Math.round(Math.max(...answers.map(({ ms }) => ms))),
    told: answers.filter(({ answer }) => isTold(answer?.body)).length,
    slots,
    slotsTakenMs: Math.round(lastClaim - from),
    requests: invocations.reduce((sum, { calls }) => sum + calls.length, 0),
    byCall: countBy(invocations.flatMap(({ calls }) => calls.map(({ name }) => name))),
    verb,
    enrolled: enrolled.size,
    begun: begun.size,
    begunAfterVerb,
    groupBytes: sizeOf(
      deployment.services.table.get({ Key: { pk: { S: 'group#default' }, sk: { S: 'A' } } }).Item ?? {},
    ),
  };
}

function countBy<T>(things: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1);
  return counts;
}

/** The answer to a report, which says what is desired. */
const isTold = (body: unknown): boolean => JSON.stringify(body ?? null).includes('"StagedUpdate"');
