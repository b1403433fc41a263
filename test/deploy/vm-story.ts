/** A VM that does not launch: its crash loop, its recovery, and a stop that counts nothing. */
import type { HostVm } from '../../core/contract/agent-answers.ts';
import type { VmJson } from '../../core/contract/answers.ts';
import { createMachine, type Deployed, type Machine, must, vmOf } from './deployed.ts';
import { DeployTestError, holds, same, until } from './steps.ts';

const HOST = 'i-0000000000000000c';
const VM = 'database';
const ROUNDS = 3;
const BASE_SECONDS = 3;

export async function tellVmStory(deployed: Deployed): Promise<void> {
  const { step } = deployed.steps;
  deployed.runCommand.register(HOST, 'agent');
  const host = createMachine(deployed, { nodeId: HOST, group: 'hosts', version: '1.21.0', offered: '1.21.0' });

  await step(`a VM that never launches: ${ROUNDS} failures, each counted once and waited out`, async () => {
    await host.report('Idle');
    await must(deployed, 'PUT', `/v1/vms/${VM}`, {
      hostId: HOST,
      runStrategy: 'Always',
      launch: { type: 'exec', command: ['/bin/true'] },
      backoff: { base: `${BASE_SECONDS}s`, factor: 2, cap: '60s', jitter: 0.5 },
    });
    await until('the host is woken', async () => (deployed.runCommand.wakesOf(HOST).length > 0 ? true : null));
    for (let round = 1; round <= ROUNDS; round += 1) await failOnce(deployed, host, round);
  });

  await step('it runs: the record is cleared; a stop ends it and counts nothing', async () => {
    const { instanceId } = await wanted(host);
    for (const phase of ['Scheduled', 'Running']) await report(host, { instanceId, phase });
    const running = await vmOf(deployed, VM);
    same('running', [running.printableStatus, running.startFailure], ['Running', null]);
    await must(deployed, 'POST', `/v1/vms/${VM}/stop`, {});
    same('power on the host', (await wanted(host)).power, 'off');
    await report(host, { instanceId, phase: 'Failed', cause: 'Killed' });
    const stopped = await vmOf(deployed, VM);
    same('stopped', [stopped.printableStatus, stopped.startFailure, stopped.unstableRuns], ['Stopped', null, null]);
  });
}

/** One failed launch, and the start that follows when its wait is over. */
async function failOnce(deployed: Deployed, host: Machine, round: number): Promise<void> {
  const { instanceId } = await wanted(host);
  const launch = await host.call('GET', `/v1/vms/${VM}/launch?instanceId=${instanceId}`);
  holds('the host may fetch the launch definition', launch.status === 200, launch);
  const failure = { instanceId, phase: 'Failed', cause: 'LaunchFailed', message: 'exit 1' };
  await report(host, failure);
  // Reports are repeated when an answer is lost: the same failure is not counted twice.
  await report(host, failure);
  const failed = await vmOf(deployed, VM);
  const { consecutiveFailCount, retryAfter = '' } = failed.startFailure ?? {};
  same('in the loop', [failed.printableStatus, consecutiveFailCount], ['CrashLoopBackOff', round]);
  const again = await until('the next instance', async () => {
    const vm = await vmOf(deployed, VM);
    return vm.instance !== null && vm.instance.instanceId !== instanceId ? vm : null;
  });
  const late = lateness(again, retryAfter);
  holds('no start before retryAfter', late >= 0, late);
  deployed.steps.note(
    `failure ${round}: wait ${secondsFrom(failed.lastFailure?.at ?? '', retryAfter)} s, started ${late.toFixed(1)} s after it`,
  );
}

const secondsFrom = (from: string, to: string): string => ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1);

const lateness = ({ instance }: VmJson, retryAfter: string): number =>
  (Date.parse(instance?.since ?? '') - Date.parse(retryAfter)) / 1000;

/** What the host is told to run. */
async function wanted(host: Machine): Promise<HostVm> {
  const { body } = await host.call('GET', `/v1/nodes/${HOST}/vms`);
  const items: unknown = typeof body === 'object' && body !== null && 'items' in body ? body.items : body;
  // The contract's list of one host, which has one VM.
  const [vm] = Array.isArray(items) ? (items as HostVm[]) : [];
  if (vm === undefined) throw new DeployTestError(`nothing is to run on ${HOST}: ${JSON.stringify(body)}`);
  return vm;
}

async function report(host: Machine, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await host.call('POST', `/v1/vms/${VM}/reports`, body);
  holds(`the report ${JSON.stringify(body)} is taken`, answer.status === 200, answer);
}
