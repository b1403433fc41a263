/** `holdoff apply` and `export`: what is declared in files, field by field (DESIGN section 2b). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { describePolicy } from '../../core/group/describe.ts';
import { type GroupBody, groupBodySchema } from '../../core/policy/group-policy.ts';
import { EXIT } from '../../cli/errors.ts';
import { declaredText, parseDeclared } from '../../cli/declared/file.ts';
import { differences, planOf } from '../../cli/declared/plan.ts';
import { exported } from '../../cli/declared/present.ts';
import { problem, type Responder } from './api-double.ts';
import { group, NODE_A, runningVm } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

const VM: VmBody = { hostId: NODE_A, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'db' } };

/** A control plane that keeps what is put, and refuses what it is told to. */
class Kept {
  readonly groups = new Map<string, GroupBody>();
  readonly vms = new Map<string, VmBody>();
  refuses = '';

  constructor(groups: Record<string, GroupBody> = {}, vms: Record<string, VmBody> = {}) {
    for (const [id, body] of Object.entries({ default: {}, ...groups })) this.groups.set(id, body);
    for (const [id, body] of Object.entries(vms)) this.vms.set(id, body);
  }

  get present() {
    return {
      groups: [...this.groups].map(([id, body]) => group({ group: id, policy: describePolicy(body) })),
      vms: [...this.vms].map(([vmId, declared]) => runningVm({ vmId, declared })),
    };
  }

  readonly respond: Responder = ({ method, path, body }) => {
    const [, , noun = '', id = ''] = path.split('?')[0]?.split('/') ?? [];
    const things: Map<string, unknown> = noun === 'groups' ? this.groups : this.vms;
    if (method === 'GET') return items(...(noun === 'groups' ? this.present.groups : this.present.vms));
    if (id === this.refuses) return problem(409, 'AfterCycle', 'the groups would wait for each other');
    if (method === 'DELETE') things.delete(id);
    else things.set(id, body);
    return ok({}, 202);
  };
}

const apply = (kept: Kept, text: string, more = '', world: object = {}) =>
  holdoff(`apply fleet.yaml${more === '' ? '' : ` ${more}`}`, kept.respond, {
    ...world,
    files: { 'fleet.yaml': text },
  });

const FILE = `
groups:
  web: # waits for the canaries
    maxConcurrentUpdates: 10%
    after: { group: canary, soak: 24h }
  canary: {}
vms:
  db: { hostId: ${NODE_A}, runStrategy: Always, launch: { type: libvirt, domain: db } }
`;

describe('apply', () => {
  it('puts what is new, a group after the one it waits for, and says what it did', async () => {
    const kept = new Kept();
    const ran = await apply(kept, FILE, '--yes');
    expect(ran.err).toBe('');
    expect(ran.code).toBe(EXIT.ok);
    expect(ran.api.seen.filter(({ method }) => method !== 'GET').map(({ path }) => path)).toEqual([
      '/v1/groups/canary',
      '/v1/groups/web',
      '/v1/vms/db',
    ]);
    expect(ran.out).toContain('+ group web is new\n    after: {"group":"canary","soak":"24h"}\n');
    expect(ran.out).toContain('Applied: 3 things.');
  });

  it('changes nothing when it is applied again', async () => {
    const kept = new Kept();
    await apply(kept, FILE, '--yes');
    const again = await apply(kept, FILE);
    expect(again.out).toBe('Nothing to change: everything is as it is declared.\n');
    expect(again.api.seen.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('shows each field that changes, with --dry-run changes none', async () => {
    const kept = new Kept({ web: { maxConcurrentUpdates: 3 } }, { db: VM });
    const text = JSON.stringify({ groups: { web: { maxConcurrentUpdates: 5 } }, vms: { db: { ...VM, grace: '30s' } } });
    const ran = await apply(kept, text, '--dry-run');
    expect(ran.out).toContain('~ group web changes\n    maxConcurrentUpdates: 3 → 5\n');
    expect(ran.out).toContain('~ VM db changes\n    grace: not set → "30s"\n');
    expect(ran.out).toContain('A dry run: 2 things would change; nothing was.');
    expect(ran.api.seen.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each([
    ['y', EXIT.ok, true],
    ['', EXIT.usage, false],
  ])('asks on a terminal: %j', async (answer, code, done) => {
    const kept = new Kept();
    const ran = await apply(kept, FILE, '', { answer, isTty: true });
    expect(ran.code).toBe(code);
    expect(kept.groups.has('web')).toBe(done);
  });

  it('without a terminal and without --yes does nothing, and says how', async () => {
    const kept = new Kept();
    const ran = await apply(kept, FILE);
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err).toContain('add --yes');
    expect(kept.groups.has('web')).toBe(false);
  });

  it('stops at what is refused, and says what was done and what was not', async () => {
    const kept = new Kept();
    kept.refuses = 'web';
    const ran = await apply(kept, FILE, '--yes');
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.err).toContain('group web was refused or failed: the groups would wait for each other');
    expect(ran.err).toContain('Done before it: group canary.');
    expect(ran.err).toContain('Not done: group web, VM db.');
    const json = await apply(kept, FILE, '--yes --json');
    expect(JSON.parse(json.out)).toMatchObject({ done: [], error: { at: 'group web', code: 'AfterCycle' } });
  });

  it('deletes with --prune what no file names, of a kind that they speak of, and never default', async () => {
    const kept = new Kept({ old: { after: { group: 'older', soak: '1h' } }, older: {} }, { db: VM, gone: VM });
    await apply(kept, JSON.stringify({ groups: { web: {} } }), '--yes --prune');
    expect([...kept.groups.keys()]).toEqual(['default', 'web']);
    expect([...kept.vms.keys()]).toEqual(['db', 'gone']);
    const ran = await apply(kept, JSON.stringify({ vms: { db: VM } }), '--yes --prune');
    expect(ran.out).toContain('- VM gone is deleted');
    expect([...kept.vms.keys()]).toEqual(['db']);
    expect([...kept.groups.keys()]).toEqual(['default', 'web']);
  });

  it.each([
    ['groups: { web: { maxConcurrentUpdates: 0 } }', 'groups.web.maxConcurrentUpdates'],
    ['groups: { web: { haltOnAlert: [a] } }', 'groups.web'],
    ['vms: { db: { runStrategy: Always } }', 'vms.db.hostId'],
    ['group: {}', 'Unrecognized key'],
    ['groups: { "we b": {} }', 'a group name is'],
    ['groups: [', 'it is neither YAML nor JSON'],
  ])('refuses %j before it changes anything, and names the place', async (text, words) => {
    const kept = new Kept();
    const ran = await apply(kept, text, '--yes');
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err.replaceAll(/\s+/g, ' ')).toContain(words);
    expect(ran.api.seen).toEqual([]);
  });

  it('says of a version without quotes that YAML reads a number, whose last zero is lost', async () => {
    const ran = await apply(new Kept(), 'groups: { web: { version: { pin: 1.20 } } }', '--yes');
    expect(ran.err.replaceAll(/\s+/g, ' ')).toContain('in quotes it is a text: "1.20"');
  });

  it('refuses a name that two files declare', async () => {
    const files = { 'a.yaml': 'groups: { web: {} }', 'b.yaml': 'groups: { web: {} }' };
    const ran = await holdoff('apply a.yaml b.yaml --yes', new Kept().respond, { files });
    expect(ran.err.replaceAll(/\s+/g, ' ')).toContain('group web is declared in a.yaml, too');
  });
});

describe('export', () => {
  it('writes what apply takes: YAML, or JSON with --json', async () => {
    const kept = new Kept({ web: { maxConcurrentUpdates: '10%' } }, { db: VM });
    const yaml = await holdoff('export', kept.respond);
    expect(yaml.out).toContain('groups:\n  default: {}\n  web:\n    maxConcurrentUpdates: 10%\n');
    const json = await holdoff('export --json', kept.respond);
    expect(JSON.parse(json.out)).toEqual(parseDeclared(yaml.out, 'it'));
    expect((await apply(kept, yaml.out)).out).toContain('Nothing to change');
  });

  it('leaves out a group that nobody declared', () => {
    expect(exported({ groups: [group({ group: 'named', declared: false })], vms: [] })).toEqual({
      groups: {},
      vms: {},
    });
  });

  it('applied again is no change, whatever the policies', () => {
    const duration = fc.constantFrom('10m', '45s', '2h', '1d');
    const body: fc.Arbitrary<GroupBody> = fc
      .record(
        {
          maxConcurrentUpdates: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.constantFrom('10%', 'unlimited')),
          backoff: fc.constantFrom(
            { preset: 'brupop' as const },
            { preset: 'seed' as const, giveUpAfter: 3 },
            { unit: '1s', from: 'lastCrash' as const, cap: '1h', resetAfter: '24h' },
          ),
          deadlines: fc.record(
            { RebootedIntoUpdate: fc.constantFrom('30m', '90m'), Idle: duration },
            { requiredKeys: [] },
          ),
          monitor: fc.record({ soak: duration, onFailure: fc.constant('report' as const) }, { requiredKeys: [] }),
          drain: fc.constantFrom({ steps: [] }, { steps: [], timeout: '9m', onTimeout: 'force' as const }),
          windows: fc.constant([{ cron: '0 2 * * *', duration: '4h', timezone: 'Europe/Berlin' }]),
          breaker: fc.record({ failures: fc.integer({ min: 1, max: 100 }), within: duration }),
          version: fc.record({ pin: fc.constant('1.20'), minVersionAge: duration }, { requiredKeys: [] }),
          order: fc.constant({ last: [NODE_A] }),
          maxUnavailable: fc.constantFrom(3, '20%'),
        },
        { requiredKeys: [] },
      )
      .map((given) => groupBodySchema.safeParse(given))
      .filter(({ success }) => success)
      .map(({ data }) => data ?? {});
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('web', 'canary', 'night'), body), (groups) => {
        const kept = new Kept(groups, { db: VM });
        const text = declaredText(exported(kept.present));
        expect(planOf(parseDeclared(text, 'it'), kept.present, true)).toEqual([]);
      }),
    );
  });
});

it('a list is one field, an object is not', () => {
  expect(differences({ a: { b: 1, c: [1, 2] } }, { a: { b: 1, c: [2, 1] }, d: null })).toEqual([
    { path: 'a.c', was: [1, 2], is: [2, 1] },
    { path: 'd', was: undefined, is: null },
  ]);
});
