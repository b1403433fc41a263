/** `holdoff what-if`: reads the fleet, and changes nothing. */
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/errors.ts';
import type { Responder } from './api-double.ts';
import { group, idleNode, NODE_B } from './fleet.ts';
import { holdoff, items } from './holdoff.ts';

const fleet: Responder = ({ path }) => {
  if (path.startsWith('/v1/nodes')) return items(idleNode(), idleNode({ nodeId: NODE_B }));
  return path.startsWith('/v1/groups') ? items(group({ group: 'default' })) : items();
};
const files = (body: unknown) => ({ files: { 'policies.json': JSON.stringify(body) } });

describe('what-if', () => {
  it('reads nodes, groups and the log, and prints how it would go', async () => {
    const ran = await holdoff('what-if policies.json --version 1.21.0 --for 4h', fleet, files({ groups: {} }));
    expect(ran.err).toBe('');
    expect(ran.code).toBe(EXIT.ok);
    expect(ran.api.seen.every(({ method }) => method === 'GET')).toBe(true);
    expect(ran.out).toContain('A forecast for 2 nodes');
    expect(ran.out).toContain('default: all of its 2 nodes are done by');
  });

  it('uses the policy of the file in place of the present one', async () => {
    const body = { groups: { default: { version: { pin: '1.20.0' } } } };
    const ran = await holdoff('what-if policies.json --version 1.21.0 --for 2h --json', fleet, files(body));
    expect(JSON.parse(ran.out)).toMatchObject({ nodes: 2, updated: 2, crashes: 0, groups: { default: { most: 0 } } });
  });

  it.each([
    [{ group: {} }, 'no declaration that can be applied', EXIT.usage],
    [{ groups: { default: { maxConcurrentUpdates: 0 } } }, 'groups.default.maxConcurrentUpdates', EXIT.usage],
    [{ groups: { default: { after: { group: 'default', soak: '1h' } } } }, 'a policy would be refused', EXIT.usage],
  ])('refuses %j and says why', async (body, words, code) => {
    const ran = await holdoff('what-if policies.json --version 1.21.0', fleet, files(body));
    expect(ran.err).toContain(words);
    expect(ran.code).toBe(code);
  });

  it('says so where there is no node', async () => {
    const ran = await holdoff('what-if policies.json', () => items(), files({ groups: {} }));
    expect(ran.err).toContain('nothing to forecast');
    expect(ran.api.seen.map(({ path }) => path)).toContain(`/v1/nodes`);
  });

  it('draws it', async () => {
    const ran = await holdoff('what-if policies.json --version 1.21.0 --for 2h --svg', fleet, files({ groups: {} }));
    expect(ran.out).toMatch(/^<svg /);
  });
});
