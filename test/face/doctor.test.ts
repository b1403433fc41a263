import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../cli/client.ts';
import { COMMANDS } from '../../cli/commands/all.ts';
import type { Connection, Credentials } from '../../cli/connection.ts';
import type { Account } from '../../cli/doctor/account.ts';
import { examine } from '../../cli/doctor/doctor.ts';
import { CHECKS, type Check, type Finding } from '../../cli/doctor/finding.ts';
import { CliError, EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { WAKE_DOCUMENT } from '../../core/contract/wake-document.ts';
import { seconds } from '../../core/kit/time.ts';
import { CREDENTIALS, problem, REGION, type Reply, type Responder } from './api-double.ts';
import { fakeIo } from './fake-io.ts';
import { idleNode, NODE_A, NOW, runningVm } from './fleet.ts';
import { items, ok, startedIo, withApi } from './holdoff.ts';

const SUMMARY = {
  nodes: { total: 1, byPhase: { Idle: 1 } },
  vms: { total: 0, byStatus: {} },
  attention: [],
  sweptAt: '2026-01-05T00:08:00.000Z',
};

type Fleet = { summary?: Reply; nodes?: Reply; vms?: Reply };
const answers =
  ({ summary = ok(SUMMARY), nodes = items(idleNode()), vms = items() }: Fleet): Responder =>
  ({ path }) =>
    path.startsWith('/v1/summary') ? summary : path.startsWith('/v1/nodes') ? nodes : vms;

const ACCOUNT: Account = {
  alarms: async () => [
    { name: 'holdoff-sweep-missing', state: 'OK' },
    { name: 'holdoff-gave-up', state: 'INSUFFICIENT_DATA' },
  ],
  depth: async () => 0,
  document: async () => ({ status: 'Active', content: JSON.stringify(WAKE_DOCUMENT) }),
  scheduleGroup: async () => 'ACTIVE',
  concurrency: async () => ({ account: 1000, unreserved: 900 }),
};

type Case = Fleet & {
  account?: Partial<Account>;
  credentials?: () => Promise<Credentials>;
  /** Of the control plane. */
  clock?: number;
  endpoint?: string;
  isLocal?: boolean;
};

/** Examines a deployment of the case. */
const examined = ({
  account,
  credentials,
  clock = NOW,
  endpoint,
  isLocal = false,
  ...fleet
}: Case): Promise<Finding[]> =>
  withApi(
    answers(fleet),
    (api) => {
      const io = fakeIo();
      const connection: Connection = {
        endpoint: endpoint ?? api.endpoint,
        region: REGION,
        credentials: credentials ?? (async () => CREDENTIALS),
        isLocal,
      };
      const timeout = seconds(20);
      const client = createClient(connection, { timeout, interrupted: io.interrupted, now: io.now });
      return examine({
        connection,
        client,
        account: async () => ({ ...ACCOUNT, ...account }),
        prefix: 'holdoff',
        timeout,
        io,
      });
    },
    { date: new Date(clock) },
  );

const of = (findings: readonly Finding[], check: Check): Finding[] => findings.filter((one) => one.check === check);

const denied = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('not authorized to perform this'), { name: 'AccessDeniedException' }));

describe('a deployment that is well', () => {
  it('is ok in every check, in the order of what the next ones need', async () => {
    const findings = await examined({});
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect([...new Set(findings.map(({ check }) => check))]).toEqual([...CHECKS]);
  });
});

describe('each check finds its fault, and says what to do about it', () => {
  const overdue = {
    ...runningVm({ vmId: 'web' }),
    instance: null,
    startFailure: {
      consecutiveFailCount: 1,
      lastFailedInstanceId: 'x',
      retryAfter: '2026-01-05T00:00:00.000Z',
      reason: 'LaunchFailed' as const,
      message: null,
    },
  };
  const oldAgent = idleNode();
  if (oldAgent.status !== null) oldAgent.status.agentVersion = '0.9.0';

  it.each<[check: Check, status: Finding['status'], found: RegExp, fault: Case]>([
    [
      'credentials',
      'fail',
      /no AWS credentials to sign with: no profile/,
      {
        credentials: () =>
          Promise.reject(
            new CliError('NoCredentials', {
              what: 'no AWS credentials to sign with',
              why: 'no profile',
              next: 'log in',
            }),
          ),
      },
    ],
    [
      'credentials',
      'fail',
      /ran out at 2026-01-05T00:00:00/,
      { credentials: async () => ({ ...CREDENTIALS, expiration: new Date(NOW - 600_000) }) },
    ],
    [
      'credentials',
      'warn',
      /good for 60 s more/,
      { credentials: async () => ({ ...CREDENTIALS, expiration: new Date(NOW + 60_000) }) },
    ],
    ['endpoint', 'fail', /does not answer/, { endpoint: 'http://127.0.0.1:1' }],
    ['clock', 'warn', /computer's clock is 60 s behind/, { clock: NOW + 60_000 }],
    ['clock', 'fail', /computer's clock is 20 min ahead.*refuses signatures/, { clock: NOW - 1_201_000 }],
    [
      'access',
      'fail',
      /refused by the control plane \(403 NotAnOperator\)/,
      { summary: problem(403, 'NotAnOperator', 'a node may not') },
    ],
    ['access', 'fail', /another API version/, { summary: ok({ ...SUMMARY, api: '9.0' }) }],
    ['sweep', 'fail', /completed 20 min ago/, { summary: ok({ ...SUMMARY, sweptAt: '2026-01-04T23:50:00.000Z' }) }],
    ['schedules', 'fail', /1 wait should have ended more than 7 min ago: web/, { vms: items(overdue) }],
    ['schedules', 'fail', /is DELETING/, { account: { scheduleGroup: async () => 'DELETING' } }],
    ['agents', 'warn', /0\.9\.0 on 1 node; more than one minor version/, { nodes: items(oldAgent) }],
    [
      'alarms',
      'fail',
      /1 of 1 alarm rings: sweep-missing/,
      { account: { alarms: async () => [{ name: 'holdoff-sweep-missing', state: 'ALARM' }] } },
    ],
    [
      'alarms',
      'warn',
      /1 of 1 alarm rings: gave-up/,
      { account: { alarms: async () => [{ name: 'holdoff-gave-up', state: 'ALARM' }] } },
    ],
    [
      'dead letters',
      'fail',
      /^3 in holdoff-events-dead$/,
      { account: { depth: async (name) => (name === 'holdoff-events-dead' ? 3 : 0) } },
    ],
    ['documents', 'fail', /no document holdoff-wake/, { account: { document: async () => null } }],
    [
      'documents',
      'fail',
      /holdoff-wake is Failed/,
      { account: { document: async () => ({ status: 'Failed', content: '' }) } },
    ],
    [
      'documents',
      'warn',
      /not that of this release/,
      { account: { document: async () => ({ status: 'Active', content: 'schemaVersion: "2.2"' }) } },
    ],
    [
      'quotas',
      'fail',
      /Lambda may run 10 at once: reports and timers/,
      { account: { concurrency: async () => ({ account: 10, unreserved: 10 }) } },
    ],
    [
      'quotas',
      'warn',
      /Lambda may run 50 at once, of 1000/,
      { account: { concurrency: async () => ({ account: 1000, unreserved: 50 }) } },
    ],
  ])('%s: %s, %s', async (check, status, found, fault) => {
    const findings = of(await examined(fault), check);
    const [bad] = findings.filter((one) => one.status !== 'ok');
    expect(bad).toMatchObject({ check, status, found: expect.stringMatching(found) });
    expect(bad?.remedy).toBeTruthy();
  });

  it('an endpoint that answers anybody is no good endpoint', async () => {
    const open = createServer((_request, response) => void response.end('{}'));
    await new Promise<void>((done) => open.listen(0, '127.0.0.1', done));
    const address = open.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const findings = await examined({ endpoint: `http://127.0.0.1:${port}` });
    open.close();
    expect(of(findings, 'endpoint')).toMatchObject([
      { status: 'fail', found: expect.stringMatching(/answers anybody/) },
    ]);
  });
});

describe('a check that cannot be made says why, and is not ok', () => {
  it('what AWS does not let these credentials ask names the permission', async () => {
    const findings = await examined({
      account: { alarms: denied, depth: denied, document: denied, scheduleGroup: denied, concurrency: denied },
    });
    const unmade = findings.filter(({ status }) => status === 'unchecked');
    expect(unmade.map(({ check, remedy }) => `${check}: ${remedy}`)).toEqual([
      'schedules: grant scheduler:GetScheduleGroup, or ask somebody who has it',
      'alarms: grant cloudwatch:DescribeAlarms, or ask somebody who has it',
      'dead letters: grant sqs:GetQueueUrl and sqs:GetQueueAttributes, or ask somebody who has it',
      'documents: grant ssm:GetDocument, or ask somebody who has it',
      'quotas: grant lambda:GetAccountSettings, or ask somebody who has it',
    ]);
  });

  it('another account or prefix is not taken for a deployment without alarms', async () => {
    const findings = await examined({
      account: {
        alarms: async () => [],
        depth: async () => null,
        document: async () => null,
        scheduleGroup: async () => null,
      },
    });
    for (const check of ['alarms', 'dead letters', 'documents', 'schedules'] as const) {
      const [unmade] = of(findings, check).filter(({ status }) => status !== 'ok');
      expect(unmade).toMatchObject({ status: 'unchecked', remedy: expect.stringContaining('--prefix') });
    }
  });

  it('where nobody answers, what only an answer could tell is unchecked', async () => {
    const findings = await examined({ endpoint: 'http://127.0.0.1:1' });
    for (const check of ['clock', 'access', 'sweep', 'agents'] as const)
      expect(of(findings, check)).toMatchObject([{ status: 'unchecked' }]);
  });

  it('a list that cannot be read leaves the rest to be looked at', async () => {
    const findings = await examined({ vms: { status: 500, body: { message: 'Internal Server Error' } } });
    expect(of(findings, 'schedules')[0]).toMatchObject({ status: 'unchecked' });
    expect(of(findings, 'agents')).toMatchObject([{ status: 'ok' }]);
  });

  it('a control plane of a release before, which does not say when it swept, is not called well', async () => {
    const { sweptAt: _sweptAt, ...before } = SUMMARY;
    expect(of(await examined({ summary: ok(before) }), 'sweep')).toMatchObject([{ status: 'unchecked' }]);
  });

  it('`npm start` has no AWS account: nothing of it is asked', async () => {
    const findings = await examined({
      isLocal: true,
      account: { alarms: () => Promise.reject(new Error('it was asked')) },
    });
    expect(of(findings, 'alarms')).toMatchObject([
      { status: 'unchecked', found: expect.stringContaining('npm start') },
    ]);
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
  });
});

describe('the command', () => {
  type Shown = { code: number; out: string; err: string };
  const shown = (line: string, fleet: Fleet = {}, world: Parameters<typeof startedIo>[1] = {}): Promise<Shown> =>
    withApi(
      answers(fleet),
      async (api) => {
        const io = startedIo(api.localFile, world);
        const code = await runCommandLine(line.split(' '), COMMANDS, io);
        return { code, out: io.stdout(), err: io.stderr() };
      },
      { date: new Date(NOW) },
    );

  it('exits with 0 when nothing failed, though not all could be looked at', async () => {
    const { code, out } = await shown('doctor', {}, { isTty: true, env: { NO_COLOR: '1' } });
    expect(code).toBe(EXIT.ok);
    expect(out).toMatch(/Nothing is wrong\. 4 checks could not be made\./);
  });

  it('exits with 1 when something failed, and shows what to do', async () => {
    const late = { summary: ok({ ...SUMMARY, sweptAt: '2026-01-04T20:00:00.000Z' }) };
    const { code, out } = await shown('doctor', late);
    expect(code).toBe(EXIT.failed);
    expect(out).toMatch(/^sweep\tfail\t.*\tsee docs\/runbooks\/sweep-missing\.md$/m);
  });

  it('prints its findings as JSON', async () => {
    const { out } = await shown('doctor --json');
    const json: unknown = JSON.parse(out);
    expect(json).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([{ check: 'access', status: 'ok', found: 'may ask: 1 nodes, 0 VMs' }]),
    });
  });

  it('where no control plane is known, that is its finding', async () => {
    const io = fakeIo();
    expect(await runCommandLine(['doctor'], COMMANDS, io)).toBe(EXIT.failed);
    expect(io.stdout()).toMatch(/^endpoint\tfail\tno control plane is known here.*\tstart one with `npm start`/m);
  });

  it('names the node it means', async () => {
    const nodes = items(idleNode({ waitingFor: { code: 'BackingOff', until: '2026-01-04T23:00:00.000Z' } }));
    expect((await shown('doctor', { nodes })).out).toContain(NODE_A);
  });
});
