import { describe, expect, test } from 'vitest';
import { HANDLERS } from '../../../core/contract/names.ts';
import { ROUTES } from '../../../core/contract/routes.ts';
import { Kernel, type Kill } from '../../../world/kernel.ts';
import { STORIES } from './stories/all.ts';
import { tell } from './story.ts';

/** Paths of a handler that its name alone does not tell. */
const NAMED = [
  ...['Idle', 'StagedUpdate', 'PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate', 'ErrorReset'].map(
    (state) => `POST /v1/nodes/:nodeId/reports ${state}`,
  ),
  ...[
    'Scheduled',
    'Running',
    'Failed LaunchFailed',
    'Failed GuestPanic',
    'Failed Requested',
    'Succeeded GuestShutdown',
    'Succeeded HostMaintenance',
  ].map((phase) => `POST /v1/vms/:vmId/reports ${phase}`),
  'DELETE /v1/vms/:vmId ?force',
  'timer of a node (Scheduler)',
  'timer of a node (vernier)',
  'timer of a vm (vernier)',
  'timer of a group (vernier)',
  'status Undeliverable',
];

describe('the stories', () => {
  test('take every route, every handler and every named path', { timeout: 120_000 }, async () => {
    const handlers = new Set<string>();
    const paths = new Set<string>();
    for (const story of STORIES) {
      const told = await tell(story, null);
      for (const { handler, path } of told.invocations) {
        handlers.add(handler);
        paths.add(path);
        paths.add(path.split(' ').slice(0, 2).join(' '));
      }
    }
    expect(HANDLERS.filter((handler) => !handlers.has(handler))).toEqual([]);
    expect(
      Object.values(ROUTES)
        .map(({ method, path }) => `${method} ${path}`)
        .filter((route) => !paths.has(route)),
    ).toEqual([]);
    expect(NAMED.filter((path) => !paths.has(path))).toEqual([]);
  });
});

describe('a process that dies', () => {
  const died = async (kill: Kill): Promise<string[]> => {
    const done: string[] = [];
    const kernel = new Kernel(0);
    const call = (name: string): Promise<number> => kernel.external(name, true, () => done.push(name));
    const ended = await kernel.invoke('handler', kill, async () => {
      await call('first');
      await Promise.allSettled(['second', 'third'].map(call));
      done.push('answered');
    });
    expect(ended.kind).toBe('died');
    return done;
  };

  test.each([
    [{ call: 1, when: 'before', lostFrom: 1 }, []],
    [{ call: 1, when: 'after', lostFrom: 1 }, ['first']],
    [{ call: 2, when: 'before', lostFrom: 2 }, ['first']],
    [{ call: 2, when: 'after', lostFrom: 2 }, ['first', 'second']],
    [{ call: 3, when: 'after', lostFrom: 3 }, ['first', 'second', 'third']],
    [{ call: 3, when: 'after', lostFrom: 2 }, ['first', 'third']],
  ] as const)('at %o leaves %o behind', async (kill, left) => {
    expect(await died(kill)).toEqual(left);
  });
});
