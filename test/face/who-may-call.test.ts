import { describe, expect, test } from 'vitest';
import { ROUTE_NAMES, type RouteName, ROUTES } from '../../core/contract/routes.ts';
import type { Method } from '../../core/contract/route.ts';
import { nodeIdentity, OPERATOR } from '../../world/environment.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

const OTHER = 'i-0000000000000000b';
const arn = (text: string) => ({ userArn: text });
const PEOPLE = {
  'an operator': OPERATOR,
  'a role that a person assumed': arn('arn:aws:sts::000000000000:assumed-role/Admins/eve'),
  'a federated user': arn('arn:aws-us-gov:sts::000000000000:federated-user/eve'),
};
const NOBODY = {
  'no identity': arn(''),
  'another account': arn('arn:aws:iam::999999999999:user/eve'),
  'an ARN of another service': arn('arn:aws:s3:::bucket'),
  'a principal of an unknown kind': arn('arn:aws:sts::000000000000:assumed-device/HoldoffNode/i-0000000000000000a'),
  'a role, which signs nothing itself': arn('arn:aws:iam::000000000000:role/HoldoffNode'),
  'a session of two names': arn('arn:aws:sts::000000000000:assumed-role/HoldoffNode/i-0000000000000000a/x'),
  'a user without a name': arn('arn:aws:iam::000000000000:user/'),
  'words around an ARN': arn('x arn:aws:iam::000000000000:user/eve'),
};
const ITSELF = nodeIdentity(HOST);
const ANOTHER = nodeIdentity(OTHER);
const NO_NODE = arn('arn:aws:sts::000000000000:assumed-role/HoldoffNode/eve');

/** Written by hand, not read from the routes: what an agent may call, and whose it must be. Everything else is a person's. */
const OF_AGENTS: Partial<Record<RouteName, 'its own' | 'of the host'>> = {
  reportNode: 'its own',
  listHostVms: 'its own',
  reportVm: 'of the host',
  getLaunch: 'of the host',
};

const BODIES: Partial<Record<RouteName, unknown>> = {
  reportNode: {
    state: 'Idle',
    bootId: 'b1',
    currentVersion: '1.0',
    uptime: 5000,
    updateCheck: { result: 'UpToDate' },
  },
  reportVm: { instanceId: 'another-life', phase: 'Running' },
  moveNode: { group: 'canary' },
  putVm: exec('Manual'),
};

async function fleet(): Promise<Scene> {
  const scene = new Scene();
  for (const id of [HOST, OTHER])
    await scene.node(id, { state: 'Idle', updateCheck: { result: 'UpToDate' }, uptime: 1 });
  await scene.operator('PUT', '/v1/vms/web', exec('Always'));
  await scene.operator('PUT', '/v1/groups/canary', {});
  return scene;
}

type Asked = { status: number; code: unknown; changed: boolean };

async function ask(name: RouteName, identity: { userArn: string }): Promise<Asked> {
  const scene = await fleet();
  const route: { method: Method; path: string } = ROUTES[name];
  const path = route.path.replace(':nodeId', HOST).replace(':vmId', 'web').replace(':group', 'canary');
  const before = scene.world.table.writes;
  const answer = await scene.world.call(route.method, path + queryOf(scene, name), BODIES[name] ?? {}, identity);
  return {
    status: answer.status,
    code: valueAt(answer.body, 'code'),
    changed: scene.world.table.writes !== before,
  };
}

const queryOf = (scene: Scene, name: RouteName): string =>
  name === 'getLaunch' ? `?instanceId=${scene.world.instances('web').at(-1) ?? ''}` : '';

const refused = (code: string): Asked => ({ status: 403, code, changed: false });

const outcome = (asked: Asked): Asked | 'served' => (asked.status === 403 ? asked : 'served');

describe.each(ROUTE_NAMES)('%s (G11)', (name) => {
  const owner = OF_AGENTS[name];

  test.each(Object.entries(NOBODY))('is refused to %s', async (_who, identity) => {
    expect(await ask(name, identity)).toEqual(refused('NoIdentity'));
  });

  test.each(Object.entries(PEOPLE))(
    `${owner === undefined ? 'serves' : 'is refused to'} %s`,
    async (_who, identity) => {
      const asked = await ask(name, identity);
      expect(outcome(asked)).toEqual(owner === undefined ? 'served' : refused('NodeOnly'));
    },
  );

  test(`${owner === undefined ? 'is refused to a node' : 'serves the node that it is about'}`, async () => {
    const asked = await ask(name, ITSELF);
    expect(outcome(asked)).toEqual(owner === undefined ? refused('OperatorOnly') : 'served');
  });

  test('is refused to another node, and to a node role without a node', async () => {
    const code = { 'its own': 'NotYourNode', 'of the host': 'NotYourVm' };
    expect(await ask(name, ANOTHER)).toEqual(refused(owner === undefined ? 'OperatorOnly' : code[owner]));
    expect(await ask(name, NO_NODE)).toEqual(refused(owner === undefined ? 'OperatorOnly' : 'NotYourNode'));
  });
});

test('the agents’ routes of the table are these, and no other', () => {
  const agents = ROUTE_NAMES.filter((name) => ['node', 'host'].includes(ROUTES[name].who));
  expect(agents).toEqual(Object.keys(OF_AGENTS));
});
