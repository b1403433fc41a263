/** Agents one minor version older and newer than the control plane go through a whole update. */
import { describe, expect, test } from 'vitest';
import { VERSION } from '../../core/contract/skew.ts';
import { HOST, Scene } from '../plane/scene.ts';

const [major = '0', minor = '0'] = VERSION.split('.');
const NEWER = `${major}.${Number(minor) + 1}.0`;
const FAR = `${major}.${Number(minor) + 2}.0`;

/** Drives a node through an update with reports of this kind. */
async function update(more: Record<string, unknown>): Promise<Scene> {
  const scene = new Scene();
  const after = { bootId: 'b2', currentVersion: '1.1', updateCheck: { result: 'UpToDate' } };
  await scene.node(HOST, { state: 'Idle', ...more });
  for (let step = 0; step < 2; step += 1) await scene.obey(HOST, more);
  for (let step = 0; step < 2; step += 1) await scene.obey(HOST, { ...after, ...more });
  await scene.to(121);
  // Only a report ends the soak: this one is answered with Idle, and the next is Idle.
  for (let step = 0; step < 2; step += 1) await scene.obey(HOST, { ...after, ...more });
  return scene;
}

describe('a report', () => {
  test('of an agent one minor version newer, with fields that are not known here, is understood', async () => {
    const scene = await update({
      agentVersion: NEWER,
      telemetry: { temperature: 40 },
      drain: { blockedBy: [], phase: 'undraining', since: 'yesterday' },
      progress: { percent: 40, of: 'image' },
    });
    await scene.sees('nodes', HOST, {
      'status.currentVersion': '1.1',
      'status.agentVersion': NEWER,
      phase: 'Idle',
      'crash.count': 0,
    });
    expect(await scene.seen('nodes', HOST, 'explanation')).not.toMatch(/minor version/);
  });

  test('of an older agent, with none of the fields that came later, is understood', async () => {
    const scene = await update({ agentVersion: undefined, uptime: undefined });
    await scene.sees('nodes', HOST, { 'status.currentVersion': '1.1', phase: 'Idle', 'crash.count': 0 });
  });

  test('of an agent further away is taken all the same, and the node says what to update', async () => {
    const scene = await update({ agentVersion: FAR });
    await scene.sees('nodes', HOST, { 'status.currentVersion': '1.1', phase: 'Idle' });
    expect(await scene.seen('nodes', HOST, 'explanation')).toContain(
      `Its agent is ${FAR} and the control plane ${VERSION}, more than one minor version apart: update the control plane.`,
    );
  });
});
