/**
 * kill -9 and power loss at every instant that matters: before and after each command, each drain call, each change of a
 * setting and each write of the record, one after the other, all of them. G9 is checked at every end.
 */
import { describe, expect, test, vi } from 'vitest';
import type { AgentDrainPlan } from '../../agent/node/drain-record.ts';
import type { AgentMonitorPlan } from '../../agent/node/monitor-record.ts';
import { CrashModel, type Death, type Story } from './crash-model.ts';

/** Hundreds of lives one after the other. */
vi.setConfig({ testTimeout: 300_000 });

const DRAIN: AgentDrainPlan = { steps: [{ type: 'kubernetes' }], timeoutSeconds: 10, onTimeout: 'abort' };
const MONITOR: AgentMonitorPlan = {
  checks: [{ type: 'tcp', name: 'web', port: 80, timeoutSeconds: 1 }],
  onFailure: 'rollback',
};

type End = { version: string; crashes: number; reason: string | null; reboots: number };
const STORIES: [string, Story, End][] = [
  [
    'an update with a drain',
    { drain: DRAIN, monitor: MONITOR },
    { version: '2.0.0', crashes: 0, reason: null, reboots: 1 },
  ],
  [
    'an update of a node that an administrator has cordoned',
    { drain: DRAIN, adminCordon: true },
    { version: '2.0.0', crashes: 0, reason: null, reboots: 1 },
  ],
  [
    'a drain that is blocked',
    { drain: DRAIN, blocked: true },
    { version: '1.0.0', crashes: 1, reason: 'DrainBlocked', reboots: 0 },
  ],
  [
    'a health check that fails, and the way back',
    { drain: DRAIN, monitor: MONITOR, sick: true },
    { version: '1.0.0', crashes: 1, reason: 'HealthCheckFailed', reboots: 2 },
  ],
];

async function play(story: Story, death: Death | null): Promise<CrashModel> {
  const model = new CrashModel(story, death);
  await model.run();
  return model;
}

const endOf = ({ disk, plane, reboots }: CrashModel): End => ({
  version: disk.active,
  crashes: plane.crash.count,
  reason: plane.crash.lastReason,
  reboots,
});

/** Whatever happened: nothing of ours is left behind. */
function clean({ disk, cordonedBy, story, plane }: CrashModel, death: string): void {
  const { nextBootInactive, versionLock } = disk;
  expect({ death, cordonedBy, nextBootInactive, versionLock, state: plane.spec.state }).toEqual({
    death,
    cordonedBy: story.adminCordon === true ? 'admin' : null,
    nextBootInactive: false,
    versionLock: 'latest',
    state: 'Idle',
  });
}

test.each(STORIES)('%s, without any trouble', async (_what, story, end) => {
  const model = await play(story, null);
  expect(endOf(model)).toEqual(end);
  clean(model, 'none');
});

describe.each(STORIES)('%s', (_what, story, end) => {
  test.each(['kill before', 'kill after'] as const)(
    '%s each boundary: the same end, nothing done twice',
    async (kind) => {
      const { boundaries, trail } = await play(story, null);
      expect(boundaries).toBeGreaterThan(20);
      for (let at = 1; at <= boundaries; at += 1) {
        const model = await play(story, { at, kind });
        const death = `${kind} boundary ${at}, ${trail[at - 1] ?? ''}`;
        // A reboot that had been asked for is asked for again when nothing shows that it comes.
        expect({ death, ...endOf(model) }).toEqual({ death, ...end });
        clean(model, death);
      }
    },
  );

  test.each(['power before', 'power after'] as const)(
    '%s each boundary: it recovers, and leaves nothing behind',
    async (kind) => {
      const { boundaries, trail } = await play(story, null);
      for (let at = 1; at <= boundaries; at += 1) {
        const model = await play(story, { at, kind });
        const death = `${kind} boundary ${at}, ${trail[at - 1] ?? ''}`;
        const once = model.plane.crash.count <= end.crashes + 1;
        expect({ death, once }).toEqual({ death, once: true });
        clean(model, death);
      }
    },
  );
});
