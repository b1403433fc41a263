import { describe, expect, it } from 'vitest';
import { canOfGroup, canOfNode, canOfVm } from '../../core/contract/can.ts';
import { WAITING_CODES } from '../../core/contract/words.ts';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { parseCommandLine } from '../../cli/parse.ts';
import { groupHelp, nodeHelp, nodeNext, vmHelp, vmNext } from '../../present/next.ts';
import { problem, type Responder } from './api-double.ts';
import { crashedNode, event, group, idleNode, loopingVm, NODE_B, runningVm } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

const terminal = { isTty: true, env: { NO_COLOR: '1' } } as const;
const missing = problem(404, 'NotFound', 'there is none');
const waiting = crashedNode({ waitingFor: { code: 'BackingOff', until: '2026-01-05T00:10:12.000Z' } });

describe('holdoff explain', () => {
  it('tells the story of a node: what happened, why, what next and when, what may help', async () => {
    const crash = event({
      id: `node/${NODE_B}/4`,
      type: 'Node Crashed',
      subject: `node/${NODE_B}`,
      message: 'Third crash.',
    });
    const respond: Responder = ({ path }) => (path.endsWith('/events') ? items(crash) : ok(waiting));
    const { out, code } = await holdoff(`explain ${NODE_B}`, respond, terminal);
    expect(code).toBe(EXIT.ok);
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      node i-0000000000000000b: BackingOff

      What happened
        WHEN           WHAT
        10 min ago     asked for Idle
        5 min ago   !  first of 3 crashes on its record
        20 s ago    !  last crash: on the way to PerformedUpdate, ActivateFailed, exit status 1
        12 s ago       reported Idle, running 1.20.0
        10 s ago    !  Node Crashed: Third crash.

      Why
        Crashed 3 times, last on the way to PerformedUpdate (ActivateFailed); it is tried again in 12 s.

      What next
        WHEN            WHAT
        in 12 s         BackingOff ends; what else it waits for is judged then
        in 23 h 55 min  its crash record is cleared, if no more is added

      What may help
        holdoff nodes retry i-0000000000000000b
      "
    `);
  });

  it('tells the story of a VM in a pipe: rows with RFC 3339', async () => {
    const respond: Responder = ({ path }) => {
      if (path.startsWith('/v1/groups')) return missing;
      return path.endsWith('/events') ? items(event()) : ok(loopingVm());
    };
    const rows = (await holdoff('explain web', respond)).out.split('\n');
    expect(rows).toContain('thing\tvm\tweb\tCrashLoopBackOff');
    expect(rows).toContain('happened\t2026-01-05T00:09:50.000Z\t!\tVM Start Delayed: The next start waits for 30 s.');
    expect(rows).toContain('next\t2026-01-05T00:10:20.000Z\tit is started again');
    expect(rows).toContain('why\tFailed to start twice; the next start is in 20 s.');
  });

  it('of a group takes its own events out of the log of the fleet', async () => {
    const own = event({ id: 'group/web/1', subject: 'group/web', type: 'Breaker Opened', message: 'Three crashed.' });
    const respond: Responder = ({ path }) =>
      path.startsWith('/v1/events')
        ? items(own, event({ message: 'of another' }))
        : ok(group({ group: 'web', paused: true }));
    const { out } = await holdoff('explain group/web', respond, terminal);
    expect(out).toContain('Breaker Opened: Three crashed.');
    expect(out).not.toContain('of another');
    expect(out).toContain('holdoff groups resume web');
  });

  it('is told which is meant where a VM and a group have one name', async () => {
    const respond: Responder = ({ path }) => ok(path.startsWith('/v1/groups') ? group() : runningVm());
    const ran = await holdoff('explain db', respond);
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err).toContain('holdoff explain vm/db, or holdoff explain group/db');
  });

  it('of what is not there exits with 4', async () => {
    expect((await holdoff('explain nothing', () => missing)).code).toBe(EXIT.notFound);
  });

  it('says a retry that is past as due, not as ago', () => {
    const late = loopingVm();
    expect(vmNext(late)).toEqual([{ at: '2026-01-05T00:10:20.000Z', what: 'it is started again' }]);
    expect(vmNext(loopingVm({ power: { on: false, sequence: 2 } }))).toEqual([]);
  });

  it('promises a retry only to a node that waits for it, not to one that is being tried or is on its way back', () => {
    const said = (node: ReturnType<typeof crashedNode>): string =>
      nodeNext(node)
        .map(({ what }) => what)
        .join();
    expect(said(crashedNode())).toContain('tried again at the earliest');
    expect(said(crashedNode({ phase: 'Updating' }))).not.toContain('tried again');
    expect(said(crashedNode({ phase: 'Recovering' }))).not.toContain('tried again');
  });

  it('never promises a retry of a node that gave up', () => {
    const next = nodeNext(crashedNode({ waitingFor: { code: 'GaveUp' } }));
    expect(next.map(({ what }) => what).join()).not.toContain('tried again');
  });
});

describe('what is printed as a command is one', () => {
  const nodes = WAITING_CODES.map((code) =>
    crashedNode({ waitingFor: { code }, spec: { ...waiting.spec, version: '2.0' } }),
  );
  const vms = (['Stopped', 'Completed', 'CrashLoopBackOff', 'Failed', 'Unknown'] as const).map((printableStatus) =>
    loopingVm({ printableStatus }),
  );
  const breaker = { version: '2.0', openedAt: '2026-01-05T00:00:00.000Z', nodes: [NODE_B] };
  const groups = [group({ paused: true, breakers: [breaker], window: { open: false } })];
  const commands = [...nodes.flatMap(nodeHelp), ...vms.flatMap(vmHelp), ...groups.flatMap(groupHelp)];

  it.each([...new Set(commands)])('%s', (command) => {
    const [, ...words] = command.split(' ');
    const parsed = parseCommandLine(words, COMMANDS, { out: () => undefined, err: () => undefined });
    expect(parsed.kind).toBe('run');
  });
});

describe('a verb that is refused', () => {
  const refusedVm = { vmId: 'web', deleting: true, runStrategy: 'Once' as const, on: true, had: 'Failed' };
  const verdicts = [
    ...Object.values(canOfVm(refusedVm)),
    ...Object.values(canOfVm({ ...refusedVm, deleting: false })),
    ...Object.values(canOfVm({ ...refusedVm, deleting: false, runStrategy: 'Halted' })),
    ...Object.values(canOfNode({ nodeId: NODE_B, group: 'web', underWay: true })),
    ...Object.values(canOfGroup({ group: 'g', isDefault: false, declared: false, frozen: 'until noon' })),
    ...Object.values(canOfGroup({ group: 'default', isDefault: true, declared: true, frozen: null })),
  ].flatMap((why) => why ?? []);

  it.each(verdicts)('with $code says why in the words of the API, and what would help', async ({ code, detail }) => {
    const { err } = await holdoff('vms start web', () => problem(409, code, detail));
    expect(err).toContain(`why: ${detail}`);
    expect(err).toMatch(/try: .*(holdoff|FILE)/);
    expect(err).not.toContain('see how things stand now');
  });

  it('is named by show before somebody tries it', async () => {
    const can = canOfNode({ nodeId: NODE_B, group: 'web', underWay: true });
    const respond: Responder = ({ path }) => (path.endsWith('/events') ? items() : ok(idleNode({ can })));
    expect((await holdoff(`nodes show ${NODE_B}`, respond)).out).toContain(
      `Refused now\tmove: ${can.move?.detail ?? ''}`,
    );
  });
});
