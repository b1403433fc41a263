/**
 * What 1,000 nodes cost a month (DESIGN section 10: at most 5 USD at list prices): a node at rest is played for ten days on
 * the virtual AWS, its requests and DynamoDB units are counted as they are made, and a sweep over 1,000 of them too. The
 * arithmetic is extrapolated to a month. docs/cost.md has the same table with the sources of the prices.
 */
import { ACCESS_LOG, API_MEMORY_MIB } from '../../infra/api.ts';
import { seededRandom } from '../../world/random.ts';
import { nodeIdentity } from '../../world/environment.ts';
import { Fleet, nodeIdAt, vmIdAt } from './fleet.ts';
import type { Figure, Row } from './row.ts';

/** List prices of us-east-1 in USD, read in November 2026 (docs/cost.md names the pages). */
const PRICES = {
  apiRequest: 1.0 / 1e6,
  lambdaRequest: 0.2 / 1e6,
  lambdaGbSecond: 0.0000133334,
  readUnit: 0.125 / 1e6,
  writeUnit: 0.625 / 1e6,
  storedGb: 0.25,
  logGb: 0.5,
  queueRequest: 0.4 / 1e6,
  event: 1.0 / 1e6,
  /** After the first 14 million a month, which are free. */
  scheduleInvocation: 1.0 / 1e6,
} as const;

const NODES = 1_000;
const MONTH_S = 30 * 24 * 3600;
const REPORT_EVERY_S = 1_200;
const SWEEP_EVERY_S = 180;
/** Days that the node has been at rest before anything is counted, and days that are. */
const RESTED_DAYS = 3;
const COUNTED_DAYS = 7;
const DAY_S = 24 * 3600;

/** What a warm report takes in Lambda: not counted but assumed, since no AWS is at hand; docs/cost.md says from what. */
const REPORT_S = 0.01;
/** Of a sweep every request, one after the other. */
const SWEEP_REQUEST_S = 0.008;
const SWEEP_MEMORY_GB = 1;

/** What an agent says, with ids and names as long as they are. */
const USUAL = {
  state: 'Idle',
  bootId: '8a7f3c52-6b1e-4c0d-9a55-2f4e6d7c8b90',
  currentVersion: '1.21.0',
  agentVersion: '0.1.0',
  zone: 'us-east-1a',
  unexpected: [],
};

type AtRest = { reports: number; requests: number; reads: number; writes: number; itemBytes: number };

/** A node that says the same for days, at its usual pace, a tenth of it up or down. */
async function playAtRest(): Promise<AtRest> {
  const fleet = new Fleet();
  const draw = seededRandom(1);
  const node = nodeIdAt(0);
  await fleet.operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: 1 });
  await fleet.report(node, { ...USUAL, uptime: 1 });
  const from = fleet.kernel.now;
  const total: AtRest = { reports: 0, requests: 0, reads: 0, writes: 0, itemBytes: 0 };
  for (;;) {
    await fleet.settle(REPORT_EVERY_S * (0.9 + 0.2 * draw()) * 1_000);
    const passed = (fleet.kernel.now - from) / 1_000;
    if (passed > (RESTED_DAYS + COUNTED_DAYS) * DAY_S) break;
    const cost = await fleet.report(node, { ...USUAL, generation: 1, uptime: Math.round(passed) });
    if (passed < RESTED_DAYS * DAY_S) continue;
    total.reports += 1;
    total.requests += cost.requests;
    total.reads += cost.reads;
    total.writes += cost.writes;
  }
  return { ...total, itemBytes: fleet.bytesOf('node', node) };
}

/** Units of one sweep over so many of that node. */
async function sweepAtRest(nodes: number): Promise<{ requests: number; reads: number; writes: number }> {
  const fleet = new Fleet();
  await fleet.operate('PUT', '/v1/groups/default', { maxConcurrentUpdates: 1 });
  await fleet.report(nodeIdAt(0), { ...USUAL, uptime: 1 });
  await fleet.settle();
  fleet.copyNodes(nodeIdAt(0), 1, nodes);
  await fleet.settle(1_000);
  return fleet.sweepCost();
}

/** One line of the access log as it usually is, with what CloudWatch adds to each event. */
const LOG_LINE_BYTES =
  JSON.stringify({
    ...ACCESS_LOG,
    at: '05/Jan/2026:00:00:00 +0000',
    id: 'JKJaXmPLvHcESHA=',
    call: 'POST /v1/nodes/{nodeId}/reports',
    status: '200',
    ms: '12',
    from: '203.0.113.10',
    by: 'arn:aws:sts::123456789012:assumed-role/holdoff-node-us-east-1/i-0123456789abcdef0',
    error: '--',
  }).length + 26;

type CostLine = { what: string; formula: string; usd: number };

/** Each term of the bill of 1,000 nodes at rest, for a month. */
export async function costLines(): Promise<CostLine[]> {
  const rest = await playAtRest();
  const sweep = await sweepAtRest(NODES);
  const reports = ((rest.reports * MONTH_S) / (COUNTED_DAYS * DAY_S)) * NODES;
  const per = (units: number): number => units / rest.reports;
  const sweeps = MONTH_S / SWEEP_EVERY_S;
  const line = (what: string, formula: string, usd: number): CostLine => ({ what, formula, usd });
  const millions = (reports / 1e6).toFixed(2);
  return [
    line('API Gateway', `${millions} M reports × 1.00`, reports * PRICES.apiRequest),
    line('Lambda, requests', `${millions} M × 0.20`, reports * PRICES.lambdaRequest),
    line(
      'Lambda, time',
      `${millions} M × ${REPORT_S} s (assumed) × ${API_MEMORY_MIB / 1024} GB × 13.3334 per M`,
      reports * REPORT_S * (API_MEMORY_MIB / 1024) * PRICES.lambdaGbSecond,
    ),
    line(
      'DynamoDB, reads',
      `${millions} M × ${per(rest.reads).toFixed(2)} units × 0.125`,
      reports * per(rest.reads) * PRICES.readUnit,
    ),
    line(
      'DynamoDB, writes',
      `${millions} M × ${per(rest.writes).toFixed(2)} units × 0.625 (the item has ${rest.itemBytes} bytes)`,
      reports * per(rest.writes) * PRICES.writeUnit,
    ),
    line(
      'DynamoDB, storage',
      `${NODES} × ${rest.itemBytes} bytes and as much for indexes × 0.25 a GB`,
      ((2 * NODES * rest.itemBytes) / 1e9) * PRICES.storedGb,
    ),
    line(
      'access log',
      `${millions} M × ${LOG_LINE_BYTES} bytes × 0.50 a GB`,
      ((reports * LOG_LINE_BYTES) / 1e9) * PRICES.logGb,
    ),
    line(
      'sweep',
      `${sweeps} × (${sweep.reads.toFixed(0)} read and ${sweep.writes.toFixed(0)} write units; ${sweep.requests} requests × ${SWEEP_REQUEST_S} s (assumed) × ${SWEEP_MEMORY_GB} GB)`,
      sweeps *
        (sweep.reads * PRICES.readUnit +
          sweep.writes * PRICES.writeUnit +
          PRICES.lambdaRequest +
          sweep.requests * SWEEP_REQUEST_S * SWEEP_MEMORY_GB * PRICES.lambdaGbSecond),
    ),
  ];
}

/** Of a VM whose guest fails at once, once its waits are at their cap: everything from one start to the next. */
async function playLoop(): Promise<{ calls: number; reads: number; writes: number; waitS: number }> {
  const fleet = new Fleet();
  const node = nodeIdAt(0);
  const vmId = vmIdAt(0);
  await fleet.report(node, { ...USUAL, uptime: 1 });
  const launch = { type: 'libvirt', domain: 'web' };
  await fleet.operate('PUT', `/v1/vms/${vmId}`, { hostId: node, runStrategy: 'Always', launch });
  const agent = nodeIdentity(node);
  const seen = { calls: 0, reads: 0, writes: 0, waitS: 0 };
  let last = '';
  for (let starts = 0; starts < LOOP_WARM_UP + LOOP_COUNTED;) {
    const before = fleet.units();
    const from = fleet.kernel.now;
    let instanceId = last;
    while (instanceId === last) {
      await fleet.settle(1_000);
      instanceId = fleet.peekVm(vmId)?.instance?.instanceId ?? last;
    }
    await fleet.call('GET', `/v1/nodes/${node}/vms`, agent);
    await fleet.call('GET', `/v1/vms/${vmId}/launch?instanceId=${instanceId}`, agent);
    const failed = { instanceId, phase: 'Failed', cause: 'LaunchFailed', message: 'exit code 1' };
    for (const report of [{ instanceId, phase: 'Scheduled' }, failed])
      await fleet.call('POST', `/v1/vms/${vmId}/reports`, agent, report);
    last = instanceId;
    starts += 1;
    if (starts <= LOOP_WARM_UP) continue;
    const after = fleet.units();
    seen.calls += LOOP_CALLS;
    seen.reads += after.reads - before.reads;
    seen.writes += after.writes - before.writes;
    seen.waitS += (fleet.kernel.now - from) / 1_000;
  }
  return {
    calls: seen.calls / LOOP_COUNTED,
    reads: seen.reads / LOOP_COUNTED,
    writes: seen.writes / LOOP_COUNTED,
    waitS: seen.waitS / LOOP_COUNTED,
  };
}

const LOOP_WARM_UP = 8;
const LOOP_COUNTED = 20;
/** The list, the launch definition, Scheduled and Failed. */
const LOOP_CALLS = 4;
/** Besides the calls: the retry's timer, its wake, and the event log. */
const LOOP_INVOCATIONS = LOOP_CALLS + 3;
const LOOPING = 1_000;

/** A day on which 1,000 VMs fail at each start. */
async function loopFigure(): Promise<Figure> {
  const one = await playLoop();
  const starts = (LOOPING * DAY_S) / one.waitS;
  const usd =
    starts *
    (LOOP_CALLS * PRICES.apiRequest +
      LOOP_INVOCATIONS * (PRICES.lambdaRequest + REPORT_S * (API_MEMORY_MIB / 1024) * PRICES.lambdaGbSecond) +
      one.reads * PRICES.readUnit +
      one.writes * PRICES.writeUnit +
      PRICES.scheduleInvocation +
      2 * PRICES.queueRequest * 3 +
      2 * PRICES.event);
  return {
    what: `a day on which ${LOOPING.toLocaleString('en')} VMs fail at each start`,
    target: null,
    measured: usd,
    unit: 'USD',
    note: `${Math.round(starts).toLocaleString('en')} starts, ${Math.round(one.waitS)} s apart; each ${LOOP_CALLS} calls, ${one.reads.toFixed(1)} read and ${one.writes.toFixed(1)} write units, a schedule, two messages, two events`,
  };
}

export const cost: Row = {
  name: 'cost',
  about: 'USD for 1,000 nodes a month at the default report interval, from counted requests and stored sizes',
  measure: async () => {
    const lines = await costLines();
    const together = lines.reduce((sum, { usd }) => sum + usd, 0);
    return [
      ...lines.map(({ what, formula, usd }): Figure => ({
        what,
        target: null,
        measured: usd,
        unit: 'USD',
        note: formula,
      })),
      {
        what: 'together',
        target: { most: 5 },
        measured: together,
        unit: 'USD',
        note: `a month of 30 days, from ${COUNTED_DAYS} days that were played`,
      },
      await loopFigure(),
    ];
  },
};
