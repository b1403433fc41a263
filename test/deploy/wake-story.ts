/** Wakes that do not arrive: one that fails on the node, one for a node that SSM does not know. */
import { createMachine, type Deployed, must, nodeOf } from './deployed.ts';
import { same, until } from './steps.ts';

const GROUP = 'lonely';
const WITHOUT_AGENT = 'i-0000000000000001a';
const UNKNOWN_TO_SSM = 'i-0000000000000001b';

export async function tellWakeStory(deployed: Deployed): Promise<void> {
  const options = { group: GROUP, version: '1.20.5', offered: '1.21.0' };
  await deployed.steps.step('a wake that fails is shown and counts nothing, whoever says that it failed', async () => {
    await must(deployed, 'PUT', `/v1/groups/${GROUP}`, { maxConcurrentUpdates: 2 });
    await must(deployed, 'POST', `/v1/groups/${GROUP}/pause`, {});
    // No agent runs on the first: the script of the document fails there. SSM does not know the second.
    deployed.runCommand.register(WITHOUT_AGENT, 'no agent');
    for (const nodeId of [WITHOUT_AGENT, UNKNOWN_TO_SSM]) {
      const machine = createMachine(deployed, { ...options, nodeId });
      same(`desired of ${nodeId} in a paused group`, (await machine.report('Idle')).desired.state, 'Idle');
    }
    await must(deployed, 'POST', `/v1/groups/${GROUP}/resume`, {});
    for (const [nodeId, how] of [
      [WITHOUT_AGENT, 'Failed'],
      [UNKNOWN_TO_SSM, 'InvalidInstanceId'],
    ] as const) {
      const node = await until(`${nodeId} is shown as not woken: ${how}`, async () => {
        const seen = await nodeOf(deployed, nodeId);
        return seen.explanation.includes(`The last wake ended ${how}`) ? seen : null;
      });
      same('crashes', node.crash.count, 0);
      deployed.steps.note(node.explanation);
    }
  });
}
