import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/errors.ts';
import { splitJsonFields } from '../../cli/fields.ts';
import { crashedNode, event, idleNode, loopingVm, NODE_A, NODE_B, runningVm } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

describe('--json with fields', () => {
  it.each(['nodes --json nodeId,phase', 'nodes --json=nodeId,phase', 'nodes list --json nodeId,phase --limit 2'])(
    '%s: an array of these fields',
    async (line) => {
      const { out } = await holdoff(line, () => items(idleNode(), crashedNode()));
      expect(JSON.parse(out)).toEqual([
        { nodeId: NODE_A, phase: 'Idle' },
        { nodeId: NODE_B, phase: 'BackingOff' },
      ]);
    },
  );

  it('of one thing: an object; a dot goes inside; what is not there is null', async () => {
    const { out } = await holdoff('vms show web --json vmId,power.on,instance.phase', () => ok(loopingVm()));
    expect(JSON.parse(out)).toEqual({ vmId: 'web', 'power.on': true, 'instance.phase': null });
  });

  it('of an event log: these of each', async () => {
    const { out } = await holdoff('vms events web --json type', () => items(event()));
    expect(JSON.parse(out)).toEqual([{ type: 'VM Start Delayed' }]);
  });

  it.each(['nodes --json nodeId,nope', 'nodes --json nope', 'vms stop db --json vmId,nope', 'openapi --json=paths'])(
    '%s: a field that is not there is refused with those that are, before anything is sent',
    async (line) => {
      const { code, err, api } = await holdoff(line, () => items());
      expect(code).toBe(EXIT.usage);
      expect(JSON.parse(err)).toMatchObject({ error: { code: 'Usage' } });
      expect(err).toMatch(/no field nope .*[\s\S]*its fields are (?:nodeId|vmId), |no fields to choose from/);
      expect(api.seen).toEqual([]);
    },
  );

  it('leaves a word alone that is something else', () => {
    for (const line of ['vms stop --json web', '--json nodes', `nodes --json show ${NODE_A}`, 'nodes --json']) {
      expect(splitJsonFields(line.split(' ')).join(' ')).toBe(line);
    }
  });

  it('still takes --json before the id', async () => {
    const { api } = await holdoff('vms stop --json db', () => ok(runningVm(), 202));
    expect(api.seen[0]?.path).toBe('/v1/vms/db/stop');
  });
});
