/**
 * What an idle agent costs its node: size of the bundle, memory and CPU, with the pace of a deployment (a report and a list
 * every 20 min, a refresh every 15 min). `tsx bench/agent-footprint.ts [--minutes 60]`
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildAgent } from '../agent/build.mjs';
import { Machine } from '../local/machine/machine.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = Number(values.minutes);
/** Linux counts CPU time in hundredths of a second, proc(5). */
const TICKS_PER_SECOND = 100;
/** As a deployment has it unless it is set (docs/settings.md). */
const IDLE_REPORT_SECONDS = 1200;

let requests = 0;
const plane = createServer((request, response) => {
  requests += 1;
  request.resume();
  const desired = { state: 'Idle', version: null, generation: 1 };
  const report = request.method === 'POST';
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify(
      report ? { api: '1.0', desired, reportEverySeconds: IDLE_REPORT_SECONDS } : { api: '1.0', items: [] },
    ),
  );
});
await new Promise<void>((done) => {
  plane.listen(0, '127.0.0.1', done);
});
const address = plane.address();
if (address === null || typeof address === 'string') throw new Error('not listening');

const dir = mkdtempSync(join(tmpdir(), 'holdoff-footprint-'));
const bundle = await buildAgent(join(dir, 'agent.mjs'));
const machine = new Machine({
  dir: join(dir, 'machine'),
  nodeId: 'i-0123456789abcdef0',
  endpoint: `http://127.0.0.1:${address.port}`,
  region: 'eu-west-1',
  version: '1.20.5',
  // As the unit and the image of the distribution start it.
  agentCommand: [process.execPath, '--max-semi-space-size=1', bundle],
  faults: { offeredVersion: '1.20.5' },
  agentEnv: { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' },
});
await machine.start();

/** A line of /proc/<pid>/status in MB, and the CPU seconds of /proc/<pid>/stat. */
function measure(pid: number): { resident: number; peak: number; cpuSeconds: number; switches: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    resident: field('VmRSS') / 1024,
    peak: field('VmHWM') / 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    switches: field('voluntary_ctxt_switches'),
  };
}

const { size } = statSync(bundle);
console.log(
  `bundle            ${Math.round(size / 1024)} KB, ${Math.round(gzipSync(readFileSync(bundle)).length / 1024)} KB compressed`,
);
// The first report and the first refresh are the start, not idling.
await sleep(30_000);
const { pid } = machine.state().agent;
if (pid === null) throw new Error('the agent does not run');
const [before, asked] = [measure(pid), requests];
console.log(
  `started           ${before.cpuSeconds.toFixed(2)} s of CPU, peak ${before.peak.toFixed(0)} MB, Node ${process.version}`,
);
await sleep(minutes * 60_000);
const after = measure(pid);
const cpu = after.cpuSeconds - before.cpuSeconds;
console.log(`idle for ${minutes} min   ${after.resident.toFixed(0)} MB resident, peak ${after.peak.toFixed(0)} MB`);
console.log(
  `CPU               ${cpu.toFixed(2)} s, ${((100 * cpu) / (minutes * 60)).toFixed(3)} % of a core; ${after.switches - before.switches} wake-ups, ${requests - asked} requests`,
);
await machine.close();
plane.closeAllConnections();
plane.close();
rmSync(dir, { recursive: true, force: true });
