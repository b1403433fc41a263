/** Two nodes of a group that allows one at a time: a missed deadline, a failed step, and both updates in the end. */
import { GetScheduleCommand, ListSchedulesCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import type { NodeJson } from '../../core/contract/answers.ts';
import { createMachine, type Deployed, type Machine, must, nodeOf, SCHEDULE_GROUP } from './deployed.ts';
import { holds, same, until } from './steps.ts';
import { REGION, ROOT } from './workshop.ts';

const OLD = '1.20.5';
const NEW = '1.21.0';
const GROUP = 'web';
const DEADLINE_SECONDS = 15;

const POLICY = {
  maxConcurrentUpdates: 1,
  monitor: { soak: '2s' },
  // 6 s after the first crash: long enough to see that nothing happens earlier.
  backoff: { unit: '3s', from: 'lastCrash', cap: '1h', resetAfter: '24h' },
} as const;

const secondsBetween = (from: string | null, to: string | null): number =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000;

export async function tellNodeStory(deployed: Deployed): Promise<NodeJson> {
  const { step } = deployed.steps;
  const enrol = (nodeId: string): Machine => {
    deployed.runCommand.register(nodeId, 'agent');
    return createMachine(deployed, { nodeId, group: GROUP, version: OLD, offered: NEW });
  };
  const late = enrol('i-0000000000000000a');
  const failing = enrol('i-0000000000000000b');

  await step('a node that misses its deadline is counted once, by a schedule that the emulator fires', async () => {
    await must(deployed, 'PUT', `/v1/groups/${GROUP}`, {
      ...POLICY,
      deadlines: { StagedUpdate: `${DEADLINE_SECONDS}s` },
    });
    same('desired of the first', (await late.report('Idle')).desired.state, 'StagedUpdate');
    same('desired of the second', (await failing.report('Idle')).desired.state, 'Idle');
    same('phase of the second', (await nodeOf(deployed, failing.nodeId)).phase, 'Queued');
    await missDeadline(deployed, late);
  });

  await step('its slot goes to the next, and SSM wakes both with the deployed document', async () => {
    // The short deadline has done its work.
    await must(deployed, 'PUT', `/v1/groups/${GROUP}`, POLICY);
    await awaitWake(deployed, late);
    // It has not reported since the deadline passed.
    same('phase of the first', (await nodeOf(deployed, late.nodeId)).phase, 'Unreachable');
    await late.obey(['Idle']);
    // From here on the slot is the second one's, until its update is done.
    await must(deployed, 'POST', `/v1/nodes/${late.nodeId}/hold`, {});
    await awaitWake(deployed, failing);
  });

  await step('a step that fails is counted, waited out and tried again, never before retryAfter', async () => {
    const desired = await failing.obey(['StagedUpdate']);
    same('desired', desired.state, 'PerformedUpdate');
    await failing.report('ErrorReset', { error: { reason: 'ActivateFailed', message: 'no space left' } });
    const crashed = await nodeOf(deployed, failing.nodeId);
    same('count and reason', [crashed.crash.count, crashed.crash.lastReason], [1, 'ActivateFailed']);
    same('phase', crashed.phase, 'Recovering');
    await failing.report('Idle');
    same('phase after the recovery', (await nodeOf(deployed, failing.nodeId)).phase, 'BackingOff');
    const again = await until('a second attempt', async () => {
      const node = await nodeOf(deployed, failing.nodeId);
      return node.spec.state === 'StagedUpdate' ? node : null;
    });
    const wait = secondsBetween(crashed.crash.retryAfter, again.spec.since);
    holds('no attempt before retryAfter', wait >= 0, wait);
    deployed.steps.note(`the second attempt began ${wait.toFixed(1)} s after retryAfter`);
  });

  await step('both go through the whole update; the soak time and the retry end by their timers', async () => {
    await finish(deployed, failing);
    await must(deployed, 'POST', `/v1/nodes/${late.nodeId}/release`, {});
    await finish(deployed, late);
  });

  await step('every command was the wake of the deployed document, and each ran', async () => {
    for (const { nodeId } of [late, failing]) {
      const commands = await deployed.runCommand.commandsTo(nodeId);
      holds(`commands were sent to ${nodeId}`, commands.length > 0);
      same('documents', [...new Set(commands.map((it) => it.DocumentName))], ['holdoff-wake']);
      same('statuses', [...new Set(commands.map((it) => it.Status))], ['Success']);
      same('one wake a command', deployed.runCommand.wakesOf(nodeId).length, commands.length);
      deployed.steps.note(`${nodeId}: ${commands.length} wakes`);
    }
  });
  return nodeOf(deployed, late.nodeId);
}

/** Lets the deadline of the step pass, and sees the schedule that was armed for it come and go. */
async function missDeadline(deployed: Deployed, machine: Machine): Promise<void> {
  const scheduler = new SchedulerClient({ region: REGION, endpoint: deployed.emulator.url, credentials: ROOT });
  const armed = async (): Promise<Map<string, string>> => {
    const { Schedules = [] } = await scheduler.send(new ListSchedulesCommand({ GroupName: SCHEDULE_GROUP }));
    const inputs = new Map<string, string>();
    for (const { Name = '' } of Schedules) {
      const found = await scheduler.send(new GetScheduleCommand({ GroupName: SCHEDULE_GROUP, Name }));
      inputs.set(Name, found.Target?.Input ?? '');
    }
    return inputs;
  };
  const before = await armed();
  const own = [...before].filter(([, input]) => input.includes(machine.nodeId)).map(([name]) => name);
  holds('a schedule is armed for the node', own.length > 0, [...before]);
  const { spec } = await nodeOf(deployed, machine.nodeId);
  const { crash } = await until('the deadline is counted', async () => {
    const node = await nodeOf(deployed, machine.nodeId);
    return node.crash.count > 0 ? node : null;
  });
  const waited = secondsBetween(spec.since, crash.lastAt);
  same('count and state', [crash.count, crash.lastState], [1, 'StagedUpdate']);
  holds(`not before the deadline of ${DEADLINE_SECONDS} s`, waited >= DEADLINE_SECONDS, waited);
  await until('the fired schedule is gone', async () => {
    const after = await armed();
    return own.some((name) => !after.has(name)) ? true : null;
  });
  scheduler.destroy();
  deployed.steps.note(`counted ${waited.toFixed(1)} s after the step began: ${crash.lastReason}`);
}

/** Waits for a wake that came for the step the node is asked for: it names none, the agent asks. */
async function awaitWake(deployed: Deployed, { nodeId }: Machine): Promise<void> {
  const since = Date.parse((await nodeOf(deployed, nodeId)).spec.since);
  await until(`${nodeId} is woken for its step`, () =>
    Promise.resolve(deployed.runCommand.wakesOf(nodeId).some((at) => at >= since) ? true : null),
  );
}

/** Leads a node whose step is wanted, or will be, through the update; its crash record is cleared at the end. */
async function finish(deployed: Deployed, machine: Machine): Promise<void> {
  const { nodeId } = machine;
  await until(`${nodeId} may begin`, async () =>
    (await nodeOf(deployed, nodeId)).spec.state === 'StagedUpdate' ? true : null,
  );
  await awaitWake(deployed, machine);
  same('after the download', (await machine.obey(['StagedUpdate'])).state, 'PerformedUpdate');
  same('after the activation', (await machine.report('PerformedUpdate')).desired.state, 'RebootedIntoUpdate');
  machine.boot('boot-2', NEW);
  same('after the reboot', (await machine.report('RebootedIntoUpdate')).desired.state, 'MonitoringUpdate');
  await until(`the soak time of ${nodeId} ends with a report`, async () =>
    (await machine.report('MonitoringUpdate')).desired.state === 'Idle' ? true : null,
  );
  await machine.obey(['Idle']);
  const { phase, status, crash } = await nodeOf(deployed, nodeId);
  same(`${nodeId} at the end`, [phase, status?.currentVersion, crash.count, crash.lastAt], ['Idle', NEW, 0, null]);
}
