/** DESIGN section 2b, Promotion: when a group has settled on a version, and what ends that. */
import { describe, expect, test } from 'vitest';
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import { hours, instant, type Instant, milliseconds } from '../../core/kit/time.ts';
import { type Member, missing, promoted, sayMissing, settle, type Settled } from '../../core/rollout/settling.ts';

const at = (hour: number): Instant => instant(1_767_225_600_000 + hour * 3_600_000);
const SOAK = hours(24);
const node = (n: number): NodeId => parseNodeId(`i-${n.toString(16).padStart(17, '0')}`) ?? expect.fail('a node id');
function member(n: number, changed: Partial<Member> = {}): Member {
  return {
    nodeId: node(n),
    version: '1.21.0',
    idle: true,
    held: false,
    stopped: false,
    silent: false,
    underWay: false,
    crashedTowards: [],
    since: at(0),
    completed: true,
    ...changed,
  };
}
const said = (members: Member[]): string => sayMissing(missing('1.21.0', members, SOAK, at(1)));

describe('a group is settled on a version', () => {
  test.each<[what: string, members: Member[], missing: string]>([
    ['when every member runs it, Idle', [member(1), member(2)], ''],
    ['or a newer one', [member(1), member(2, { version: '1.22.0' })], ''],
    ['not while one runs an older', [member(1), member(2, { version: '1.20.0' })], 'i-00000000000000002 runs 1.20.0'],
    ['not while one is under way', [member(1), member(2, { idle: false })], 'i-00000000000000002 is still under way'],
    [
      'not with a crash towards it on record',
      [member(1), member(2, { crashedTowards: ['1.21.0'] })],
      'i-00000000000000002 has crashed on 1.21.0',
    ],
    ['whatever a held member runs', [member(1), member(2, { held: true, version: '1.20.0' })], ''],
    ['whatever a stopped member runs', [member(1), member(2, { stopped: true, version: '1.20.0' })], ''],
    ['whatever a silent member runs', [member(1), member(2, { silent: true, version: '1.20.0' })], ''],
    [
      'but one that fell silent under way counts',
      [member(1), member(2, { silent: true, underWay: true, idle: false })],
      'i-00000000000000002 is silent',
    ],
    [
      'and one that is silent with a crash on record',
      [member(1), member(2, { silent: true, crashedTowards: ['1.21.0'] })],
      'i-00000000000000002 has crashed on 1.21.0',
    ],
    [
      'not by members that only enrolled with it',
      [member(1, { completed: false })],
      'no node there has completed 1.21.0 yet',
    ],
    ['but by one that has run it for the soak since', [member(1, { completed: false, since: at(-23) })], ''],
    ['not without members', [], 'no node there has completed 1.21.0 yet'],
    [
      'and at most three are named',
      [1, 2, 3, 4, 5].map((n) => member(n, { version: '1.20.0' })),
      'i-00000000000000001 runs 1.20.0, i-00000000000000002 runs 1.20.0, i-00000000000000003 runs 1.20.0 and 2 more',
    ],
  ])('%s', (_what, members, wanted) => {
    expect(said(members)).toBe(wanted);
  });
});

describe('who comes after', () => {
  const sweep = (before: readonly Settled[], members: Member[], hour: number, broken: string[] = []) =>
    settle(before, { members, broken, soak: SOAK, now: at(hour) });
  const may = (settled: readonly Settled[], hour: number): boolean => promoted(settled, '1.21.0', SOAK, at(hour)).may;
  const well = [member(1), member(2)];
  const crashed = [member(1), member(2, { crashedTowards: ['1.21.0'] })];

  test('may take the version once the soak has passed since, and knows until when it waits', () => {
    const settled = sweep([], well, 0);
    expect(promoted(settled, '1.21.0', SOAK, at(1))).toEqual({ may: false, until: at(24) });
    expect(promoted(settled, '1.21.0', SOAK, at(24))).toEqual({ may: true });
    expect(promoted(settled, '1.22.0', SOAK, at(24))).toEqual({ may: false, until: null });
  });

  test('a crash before the soak has passed ends it, and it has to settle anew', () => {
    const broken = sweep(sweep([], well, 0), crashed, 10);
    expect(promoted(broken, '1.21.0', SOAK, at(30))).toEqual({ may: false, until: null });
    const anew = sweep(broken, well, 12);
    expect(promoted(anew, '1.21.0', SOAK, at(30))).toEqual({ may: false, until: at(36) });
  });

  test('a crash after it changes nothing: it is latched', () => {
    expect(may(sweep(sweep([], well, 0), crashed, 25), 26)).toBe(true);
  });

  test('but a breaker that opens there for the version does', () => {
    expect(may(sweep(sweep([], well, 0), well, 30, ['1.21.0']), 31)).toBe(false);
  });

  test('members that go on to the next version, and new ones with an old, end nothing', () => {
    const onward = [member(1, { version: '1.22.0' }), member(2, { idle: false }), member(3, { version: '1.19.0' })];
    expect(may(sweep(sweep([], well, 0), onward, 10), 24)).toBe(true);
  });

  test('the last ten versions are kept', () => {
    let settled: readonly Settled[] = [];
    for (let minor = 0; minor < 15; minor += 1)
      settled = sweep(settled, [member(1, { version: `1.${minor}.0` })], minor);
    expect(settled.map(({ version }) => version)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((n) => `1.${n}.0`));
    expect(settled[0]?.longest).toBe(milliseconds(9 * 3_600_000));
  });
});
