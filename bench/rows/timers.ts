/** How late a retry is acted on, with a Scheduler that is up to a minute late and the vernier beside it (DESIGN section 4). */
import type { Item } from '../../world/aws/table.ts';
import { nodeIdentity } from '../../world/environment.ts';
import { seededRandom } from '../../world/random.ts';
import { recordOf } from '../../world/records.ts';
import { Fleet, nodeIdAt, vmIdAt } from './fleet.ts';
import type { Row } from './row.ts';

const VMS = 500;
const WAITS_OF = 3;
const FAILS_AFTER_MS = 500;

/** Milliseconds that SQS takes from the end of a delay to its consumer: as it usually is, and as the local stand-in has it. */
const SQS_USUAL = [20, 100] as const;
const SQS_SLOW = [0, 1_500] as const;
type Lag = readonly [from: number, to: number];

/** Scheduler fires within its minute (docs/facts/aws-services.md section 1). */
function delays(draw: () => number, [from, to]: Lag) {
  return {
    scheduler: () => draw() * 60_000,
    queue: (queue: 'vernier' | 'commands') => (queue === 'vernier' ? from + draw() * (to - from) : 0),
    bus: () => draw() * 1_000,
    command: () => 300 + draw() * 4_000,
    index: () => 20 + draw() * 180,
  };
}

/** Milliseconds from `retryAfter` to the start that followed it, for each wait of each VM. */
async function latenesses(sqs: Lag): Promise<number[]> {
  const late: number[] = [];
  /** Of each VM the instance that was seen last, what it waits for, and how often it has failed. */
  const seen = new Map<string, { instanceId: string; notBefore: number | null; failures: number }>();
  const host = nodeIdAt(0);
  const fail = (vmId: string, instanceId: string): void => {
    const report = { instanceId, phase: 'Failed', cause: 'LaunchFailed', message: 'exit code 1' };
    fleet.kernel.in(FAILS_AFTER_MS, async () => {
      await fleet.call('POST', `/v1/vms/${vmId}/reports`, nodeIdentity(host), report);
    });
  };
  const written = (item: Item): void => {
    const record = recordOf(item);
    if (record?.kind !== 'vm' || record.instance === null) return;
    const { vmId, instance, pendingStart } = record;
    const before = seen.get(vmId) ?? { instanceId: '', notBefore: null, failures: 0 };
    const isNew = before.instanceId !== instance.instanceId && instance.phase === 'Pending';
    if (isNew && before.notBefore !== null) late.push(instance.createdAt - before.notBefore);
    if (isNew && before.failures < WAITS_OF) fail(vmId, instance.instanceId);
    seen.set(vmId, {
      instanceId: instance.instanceId,
      notBefore: pendingStart?.notBefore ?? null,
      failures: before.failures + (isNew ? 1 : 0),
    });
  };
  const outside = { woken: () => true, registered: () => true, written };
  const fleet = new Fleet({ delays: delays(seededRandom(7), sqs), outside });
  await fleet.report(host, { state: 'Idle' });
  for (let index = 0; index < VMS; index += 1) {
    const launch = { type: 'libvirt', domain: `d${index}` };
    await fleet.operate('PUT', `/v1/vms/${vmIdAt(index)}`, { hostId: host, runStrategy: 'Always', launch });
  }
  await fleet.settle(10 * 60_000);
  return late.sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export const timers: Row = {
  name: 'timers',
  about: `lateness of ${VMS * WAITS_OF} retries, Scheduler 0–60 s late, on virtual AWS`,
  measure: async () => {
    const usual = await latenesses(SQS_USUAL);
    const slow = await latenesses(SQS_SLOW);
    const early = [...usual, ...slow].filter((ms) => ms < 0).length;
    return [
      { what: 'retries', target: { least: VMS * WAITS_OF }, measured: usual.length, unit: '' },
      { what: 'p50', target: null, measured: at(usual, 0.5) / 1_000, unit: 's, virtual' },
      { what: 'p99', target: { most: 2 }, measured: at(usual, 0.99) / 1_000, unit: 's, virtual', note: SAID },
      { what: 'p99 with SQS up to 1.5 s late', target: null, measured: at(slow, 0.99) / 1_000, unit: 's, virtual' },
      { what: 'retries that came early', target: { most: 0 }, measured: early, unit: '' },
    ];
  },
};

const SAID = 'up to a second of it is the delay of the message, which is rounded up to whole seconds';
