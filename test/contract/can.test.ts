import { describe, expect, test } from 'vitest';
import { RUN_STRATEGIES } from '../../core/contract/words.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

const UPDATE = { result: 'Available', version: '1.1' };

type Setting = (scene: Scene) => Promise<unknown>;
const declared =
  (strategy: string): Setting =>
  (scene) =>
    scene.operator('PUT', '/v1/vms/web', exec(strategy));
const VM_SETTINGS: Readonly<Record<string, Setting>> = {
  ...Object.fromEntries(RUN_STRATEGIES.map((strategy) => [`${strategy}, declared`, declared(strategy)])),
  ...Object.fromEntries(
    RUN_STRATEGIES.map((strategy) => [
      `${strategy}, ended`,
      async (scene: Scene) => {
        await declared(strategy)(scene);
        await scene.operator('POST', '/v1/vms/web/start', {});
        await scene.vm('web', { phase: 'Succeeded', cause: 'GuestShutdown' });
      },
    ]),
  ),
  'Once, ended and stopped': async (scene) => {
    await declared('Once')(scene);
    await scene.vm('web', { phase: 'Failed', cause: 'Killed' });
    await scene.operator('POST', '/v1/vms/web/stop', {});
  },
  'Always, being deleted': async (scene) => {
    await declared('Always')(scene);
    await scene.vm('web', { phase: 'Running' });
    await scene.operator('DELETE', '/v1/vms/web');
  },
};
const NODE_SETTINGS: Readonly<Record<string, Setting>> = {
  idle: (scene) => scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } }),
  'under way': (scene) => scene.node(HOST, { state: 'Idle', updateCheck: UPDATE }),
  held: async (scene) => {
    await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
    await scene.operator('POST', `/v1/nodes/${HOST}/hold`, {});
  },
};
const GROUP_SETTINGS: Readonly<Record<string, Setting>> = {
  default: () => Promise.resolve(),
  declared: (scene) => scene.operator('PUT', '/v1/groups/web', {}),
  'only named': (scene) => scene.node(HOST, { state: 'Idle', group: 'web', updateCheck: { result: 'UpToDate' } }),
};

const callOf = (path: string, verb: string): [string, string, unknown] =>
  verb === 'delete'
    ? ['DELETE', path, undefined]
    : ['POST', `${path}/${verb}`, verb === 'move' ? { group: 'other' } : {}];

async function saidAndDone(setting: Setting, path: string, verb: string): Promise<{ said: unknown; done: unknown }> {
  const scene = new Scene();
  await setting(scene);
  const { body } = await scene.operator('GET', path);
  const said = valueAt(body, `can.${verb}`);
  const answer = await scene.operator(...callOf(path, verb));
  const code = valueAt(answer.body, 'code');
  const done = answer.status < 300 ? null : { code, detail: valueAt(answer.body, 'detail') };
  return { said, done };
}

const NOUNS = [
  ['/v1/vms/web', VM_SETTINGS, ['start', 'stop', 'restart', 'delete']],
  [`/v1/nodes/${HOST}`, NODE_SETTINGS, ['retry', 'hold', 'release', 'fence', 'move', 'delete']],
] as const;

describe.each(NOUNS)('%s: what `can` says is what the verb does', (path, settings, verbs) => {
  test.each(Object.keys(settings))('%s', async (name) => {
    const setting = settings[name];
    if (setting === undefined) throw new Error(name);
    for (const verb of verbs) {
      const { said, done } = await saidAndDone(setting, path, verb);
      expect([verb, said]).toEqual([verb, done]);
    }
  });
});

test.each(Object.keys(GROUP_SETTINGS))('a group %s: what `can` says is what the verb does', async (name) => {
  const setting = GROUP_SETTINGS[name];
  if (setting === undefined) throw new Error(name);
  const path = `/v1/groups/${name === 'default' ? 'default' : 'web'}`;
  for (const verb of ['pause', 'resume', 'delete']) {
    const { said, done } = await saidAndDone(setting, path, verb);
    expect([verb, said]).toEqual([verb, done]);
  }
});

test('a VM under Halted says what to change before anybody tries', async () => {
  const scene = new Scene();
  await declared('Halted')(scene);
  expect(await scene.seen('vms', 'web', 'can.start')).toMatchObject({
    code: 'VmHalted',
    detail: expect.stringContaining('change its runStrategy'),
  });
});
