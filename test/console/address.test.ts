import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressOf, FLEET, viewOf, type View } from '../../console/address.ts';

describe('addresses of views', () => {
  test.each<[string, View]>([
    ['/', FLEET],
    ['/?by=zone&show=list&state=BackingOff', { ...FLEET, by: 'zone', show: 'list', state: 'BackingOff' }],
    ['/?by=colour&show=both', FLEET],
    ['/nodes/i-0123456789abcdef0', { name: 'node', id: 'i-0123456789abcdef0' }],
    ['/vms/web', { name: 'vm', id: 'web' }],
    ['/groups', { name: 'groups' }],
    ['/groups/canary', { name: 'group', id: 'canary' }],
    ['/events', { name: 'events' }],
    ['/nodes', { name: 'unknown', path: '/nodes' }],
    ['/nodes/%', { name: 'unknown', path: '/nodes/%' }],
    ['/nodes/a/b', { name: 'unknown', path: '/nodes/a/b' }],
  ])('%s', (address, view) => {
    expect(viewOf(address)).toEqual(view);
  });

  test('every view has an address that leads back to it, whatever its name contains', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((id) => id !== '.' && id !== '..');
    const views = fc.oneof(
      fc.record({ name: fc.constantFrom('node' as const, 'vm' as const, 'group' as const), id: text }),
      fc.record({
        name: fc.constant('fleet' as const),
        by: fc.constantFrom('group' as const, 'host' as const, 'zone' as const),
        show: fc.constantFrom('marks' as const, 'list' as const),
        state: fc.string(),
        version: fc.string(),
        find: fc.string(),
      }),
    );
    fc.assert(
      fc.property(views, (view) => {
        expect(viewOf(addressOf(view))).toEqual(view);
      }),
    );
  });
});
