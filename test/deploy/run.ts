/**
 * `npm run test:deploy`: a real `cdk bootstrap`, `deploy` and `destroy` against an emulated account on 127.0.0.1, and the
 * deployed functions through whole updates, crashes and crash loops. Needs Node, npm and Python with venv; no Docker, no
 * account. Everything is in a temporary directory, which is removed at the end; `--keep` leaves it for reading.
 */
import { openCredentials } from '../../local/aws/credentials.ts';
import { installNode24 } from '../node24/binary.ts';
import { checkAccount, tellChange, tellEnd, tellRepetition } from './account-story.ts';
import { createUser } from './aws.ts';
import { openCdk } from './cdk.ts';
import { type Deployed, NODE_ROLE, reachable } from './deployed.ts';
import { installEmulator, startEmulator } from './emulator.ts';
import { tellNodeStory } from './node-story.ts';
import { tellPeopleStory } from './people-story.ts';
import { killAll } from './processes.ts';
import { tellRefusals } from './refusals.ts';
import { startRunCommand } from './run-command.ts';
import { createSteps, same, secondsSince } from './steps.ts';
import { tellVmStory } from './vm-story.ts';
import { tellWakeStory } from './wake-story.ts';
import { REGION, ACCOUNT, openWorkshop, type Workshop } from './workshop.ts';

const steps = createSteps((line) => process.stdout.write(`${line}\n`));

async function deployAndTell(workshop: Workshop): Promise<void> {
  const { step } = steps;
  const node = await step('Node 24, the runtime of the deployed functions', () => installNode24());
  const python = await step('the emulator: a virtual environment of Python, ministack as pinned', () =>
    installEmulator(workshop),
  );
  const callersFile = workshop.path('callers.json');
  const callers = openCredentials({ file: callersFile, accountId: ACCOUNT, nodeRole: NODE_ROLE });
  for (const last of '0a 0b 0c 0d 1a 1b 1c'.split(' ')) callers.node(`i-000000000000000${last}`);
  const emulator = await step('the emulator answers, with authentication on', () =>
    startEmulator(workshop, { python, node, callers: callersFile }),
  );
  const runCommand = await startRunCommand(workshop, () => emulator.url);
  const cdk = openCdk(workshop, emulator);
  const settings = { ssmEndpoint: runCommand.url };
  const assembly = await step('cdk synth, with the checks of cdk-nag', () => cdk.synth('first', settings));
  await step('cdk bootstrap', () => cdk.bootstrap(assembly));
  await step('cdk deploy --all', () => cdk.deploy(assembly));
  const deployed = await step('the outputs have the names of the documentation', async (): Promise<Deployed> => {
    const { Endpoint = '', TableName = '', ...more } = cdk.outputs();
    same('the other outputs', Object.keys(more), ['TopicArn']);
    same('documents', runCommand.takeDocuments(), ['holdoff-install-agent', 'holdoff-wake']);
    const [operator, viewer, stranger] = [
      await createUser(emulator.url, 'operator', `holdoff-operator-${REGION}`),
      await createUser(emulator.url, 'viewer', `holdoff-viewer-${REGION}`),
      await createUser(emulator.url, 'stranger'),
    ];
    const people = { operator, viewer, stranger };
    const endpoint = reachable(Endpoint, emulator);
    return { steps, workshop, emulator, cdk, runCommand, callers, endpoint, tableName: TableName, ...people };
  });
  await tellRefusals(deployed);
  const updated = await tellNodeStory(deployed);
  await tellVmStory(deployed);
  await tellWakeStory(deployed);
  await tellPeopleStory(deployed);
  await checkAccount(deployed, updated);
  await tellRepetition(deployed, settings);
  const changed = await tellChange(deployed, settings, updated);
  await tellEnd(deployed, changed);
  await runCommand.close();
}

const started = performance.now();
const workshop = openWorkshop();
const keep = process.argv.includes('--keep');
const leave = (): void => {
  killAll();
  if (keep) process.stdout.write(`logs: ${workshop.path('logs')}\n`);
  else workshop.remove();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', leave);
try {
  await deployAndTell(workshop);
  process.stdout.write(`\nthe deployment works, ${secondsSince(started)}\n`);
  process.exit(0);
} catch (error) {
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stdout.write(`\nthe deployment does not work, ${secondsSince(started)}: ${said}\n`);
  process.exit(1);
}
