/** Day two: the CLI of README against the deployed API, with the credentials that people have. */
import { mkdirSync, writeFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { createRole } from './aws.ts';
import type { Deployed } from './deployed.ts';
import { run, type Ran } from './processes.ts';
import { holds, same, until } from './steps.ts';
import { REGION, REPOSITORY } from './workshop.ts';

const EventLog = z.object({ items: z.array(z.object({ type: z.string(), subject: z.string() })) });

/** What the log must hold after the stories of nodes and VMs. */
const EVENTS = ['Node Enrolled', 'Node Crashed', 'Node Updated', 'VM Declared', 'VM Start Delayed', 'VM Recovered'];

export async function tellPeopleStory(deployed: Deployed): Promise<void> {
  const { steps, workshop, emulator, endpoint, operator } = deployed;
  const assumed = await createRole(emulator.url, 'Auditor', 'stranger', `holdoff-viewer-${REGION}`);
  writeProfiles(deployed, assumed);
  const holdoff = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    run('npm', ['run', '--silent', 'holdoff', '--', '--endpoint', endpoint, '--region', REGION, ...words], {
      cwd: REPOSITORY,
      env: { ...workshop.environment, AWS_ENDPOINT_URL: emulator.url, ...env },
      log: workshop.path('logs', 'holdoff.log'),
      timeoutSeconds: 120,
    });
  const succeeds = async (what: string, ran: Promise<Ran>): Promise<string> => {
    const { code, output } = await ran;
    holds(`${what} succeeds`, code === 0, output);
    return output;
  };

  await steps.step('the CLI finds credentials as every AWS tool does', async () => {
    const { accessKeyId, secretAccessKey } = operator;
    const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    const nodes = await succeeds('a key pair in the environment', holdoff(['nodes'], keys));
    holds('the nodes are listed', nodes.includes('i-0000000000000000a'), nodes);
    await succeeds('--profile', holdoff(['--profile', 'ops', 'summary']));
    await succeeds('AWS_PROFILE', holdoff(['vms'], { AWS_PROFILE: 'ops' }));
    await succeeds('a profile that assumes a role', holdoff(['--profile', 'auditor', 'groups']));
  });

  await steps.step('what a person may not do is refused, with what to try next', async () => {
    const looking = await holdoff(['--profile', 'auditor', 'groups', 'pause', 'web']);
    holds(
      'a viewer cannot act',
      looking.code !== 0 && /does not accept these credentials/.test(looking.output),
      looking,
    );
    const nobody = await holdoff(['summary']);
    holds(
      'without credentials it says how to log in',
      nobody.code === 3 && /aws sso login/.test(nobody.output),
      nobody,
    );
    steps.note(looking.output.split('\n').find((line) => line.startsWith('error:')) ?? '');
  });

  await steps.step('the event log holds what happened, through the bus and its rule', async () => {
    const found = await until('the events are logged', async () => {
      const output = await succeeds('events', holdoff(['--profile', 'ops', '--json', 'events', '--all']));
      const types = new Set(z.parse(EventLog, JSON.parse(output)).items.map(({ type }) => type));
      return EVENTS.every((type) => types.has(type)) ? types : null;
    });
    same(
      'missing',
      EVENTS.filter((type) => !found.has(type)),
      [],
    );
    steps.note([...found].sort().join(', '));
  });
}

/** `~/.aws` as a person has it: a key pair, and a role that another profile may assume. */
function writeProfiles({ workshop, operator, stranger }: Deployed, roleArn: string): void {
  const section = (name: string, lines: Readonly<Record<string, string>>): string =>
    [`[${name}]`, ...Object.entries(lines).map(([key, value]) => `${key} = ${value}`), ''].join('\n');
  const keys = ({ accessKeyId, secretAccessKey }: Deployed['operator']) => ({
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
  });
  mkdirSync(workshop.path('home', '.aws'));
  writeFileSync(
    workshop.path('home', '.aws', 'credentials'),
    section('ops', keys(operator)) + section('nobody', keys(stranger)),
  );
  const auditor = { role_arn: roleArn, source_profile: 'nobody', region: REGION };
  writeFileSync(workshop.path('home', '.aws', 'config'), section('profile auditor', auditor));
}
