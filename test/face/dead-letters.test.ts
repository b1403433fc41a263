/** What AWS gave up, in words; sent again, or thrown away: the command line against the strict stand-in of SQS. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { type DeadQueue, type Message, readLetter } from '../../cli/dead-letters/letter.ts';
import { EXIT } from '../../cli/errors.ts';
import { instant } from '../../core/kit/time.ts';
import { type EmbeddedSqs, startSqs } from '../../local/aws/sqs.ts';
import { REGION } from './api-double.ts';
import type { World } from './fake-io.ts';
import { holdoff, ok } from './holdoff.ts';

const NOW = instant(Date.parse('2026-01-05T00:00:00Z'));
const NODE = 'i-0000000000000000a';
const at = Date.parse('2026-01-04T23:50:00Z');
const firing = { kind: 'vm', id: 'web', at };
const own = { source: 'holdoff', 'detail-type': 'Node Crashed', detail: { id: 'node/x/1', subject: `node/${NODE}` } };
const ec2 = (state: string) => ({
  source: 'aws.ec2',
  'detail-type': 'EC2 Instance State-change Notification',
  detail: { 'instance-id': NODE, state },
});

const message = (body: unknown, more: Partial<Message> = {}): Message => ({
  id: 'm1',
  receipt: 'r1',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  sentAt: instant(NOW - 60_000),
  said: {},
  ...more,
});
const read = (queue: DeadQueue, body: unknown, more: Partial<Message> = {}) =>
  readLetter(queue, message(body, more), NOW);

describe('a dead letter', () => {
  test.each<[string, DeadQueue, unknown, string, boolean]>([
    ['a timer', 'timers', firing, 'the timer of vm web, due 2026-01-04T23:50:00.000Z', true],
    ['a wake', 'commands', { nodeId: NODE, generation: 7 }, `a wake of node ${NODE}, generation 7`, true],
    ['a wake for a VM', 'commands', { nodeId: NODE }, `a wake of node ${NODE} for a VM there`, true],
    ['an event of ours', 'events', own, `the event "Node Crashed" of node/${NODE}, for the event log`, true],
    ['the end of a machine', 'events', ec2('terminated'), `EC2 says that ${NODE} is terminated`, false],
    ['a sweep', 'events', {}, 'a sweep that failed', false],
    ['what is no JSON', 'timers', 'oh\u001b[31m no', 'a message that is none of ours: oh no', false],
  ])('%s is named, and whether it can be sent again', (_what, queue, body, what, replayable) => {
    const letter = read(queue, body);
    expect(letter.what).toBe(what);
    expect(letter.replay !== null).toBe(replayable);
    expect(letter.otherwise).not.toBe('');
  });

  test('a wake older than an hour is of no use any more', () => {
    expect(read('commands', { nodeId: NODE }, { sentAt: instant(NOW - 3_600_001) }).replay).toBeNull();
  });

  test('a machine that is gone or off is told to Holdoff by hand', () => {
    expect(read('events', ec2('terminated')).otherwise).toContain(`holdoff nodes delete ${NODE}`);
    expect(read('events', ec2('stopped')).otherwise).toContain(`holdoff nodes fence ${NODE}`);
  });

  test('says why AWS gave it up: the delivery, or the run of a function', () => {
    const said = {
      ERROR_CODE: 'NO_PERMISSIONS',
      ERROR_MESSAGE: 'not allowed',
      EXHAUSTED_RETRY_CONDITION: 'MaximumRetryAttempts',
    };
    expect(read('timers', firing, { said }).why).toBe('NO_PERMISSIONS: not allowed (given up: MaximumRetryAttempts)');
    const run = {
      requestContext: {
        functionArn: 'arn:aws:lambda:eu-west-1:1:function:holdoff-timer:$LATEST',
        condition: 'RetriesExhausted',
      },
      requestPayload: firing,
      responsePayload: { errorMessage: 'Task timed out' },
    };
    const letter = read('timers', run);
    expect(letter).toMatchObject({
      what: expect.stringContaining('vm web'),
      why: 'holdoff-timer failed: Task timed out (RetriesExhausted)',
    });
    expect(letter.replay).toEqual({ to: 'vernier', body: JSON.stringify(firing) });
  });
});

describe('holdoff dead-letters', () => {
  let dataDir: string;
  let sqs: EmbeddedSqs;
  const names = ['timers-dead', 'commands-dead', 'events-dead', 'vernier', 'commands'].map((name) => `holdoff-${name}`);
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'holdoff-dead-'));
    sqs = await startSqs({
      dataDir,
      region: REGION,
      accountId: '000000000000',
      notify: () => undefined,
      queues: names.map((name) => ({ name })),
      faults: { latenessMs: [0, 0], earlyOneIn: 0, twiceOneIn: 0 },
    });
  });
  afterEach(async () => {
    await sqs.close();
    rmSync(dataDir, { recursive: true });
  });
  const run = (line: string, world: World = {}) =>
    holdoff(line, () => ok({}), { ...world, env: { AWS_ENDPOINT_URL: sqs.url, NO_COLOR: '1', ...world.env } });
  const bury = (): void => {
    sqs.send('holdoff-timers-dead', JSON.stringify(firing));
    sqs.send('holdoff-commands-dead', JSON.stringify({ nodeId: NODE, generation: 7 }));
    sqs.send('holdoff-events-dead', JSON.stringify(ec2('terminated')));
  };

  it('lists each in words, and leaves all of them there', async () => {
    bury();
    const { code, out } = await run('dead-letters', { isTty: true });
    expect(code).toBe(EXIT.ok);
    expect(out).toContain('the timer of vm web');
    expect(out).toContain(`EC2 says that ${NODE} is terminated`);
    expect(out).toContain('Once the cause is repaired: holdoff dead-letters replay, holdoff dead-letters discard.');
    const again = await run('dead-letters --json');
    expect(JSON.parse(again.out)).toMatchObject({
      items: [{ queue: 'timers', replayable: true }, { queue: 'commands' }, { queue: 'events', replayable: false }],
    });
  });

  it('says so when there are none', async () => {
    expect((await run('dead-letters list', { isTty: true })).out).toBe('No dead letters.\n');
    expect((await run('dead-letters replay --yes')).code).toBe(EXIT.ok);
  });

  it('replay sends again what can be, and leaves the rest', async () => {
    bury();
    const { code, out } = await run('dead-letters replay --yes', { isTty: true });
    expect({ code, out }).toEqual({ code: EXIT.ok, out: '2 sent again.\n' });
    expect([sqs.depth('holdoff-vernier'), sqs.depth('holdoff-commands')]).toEqual([1, 1]);
    expect(names.slice(0, 3).map((name) => sqs.depth(name))).toEqual([0, 0, 1]);
  });

  it('discard throws away what cannot be sent again; with --all everything', async () => {
    bury();
    await run('dead-letters discard --yes');
    expect(names.slice(0, 3).map((name) => sqs.depth(name))).toEqual([1, 1, 0]);
    await run('dead-letters discard --all --yes --queue timers');
    expect(names.slice(0, 3).map((name) => sqs.depth(name))).toEqual([0, 1, 0]);
  });

  it('without a yes nothing is done, and all of them are there for the next who looks', async () => {
    bury();
    const refused = await run('dead-letters replay');
    expect(refused).toMatchObject({ code: EXIT.usage });
    expect(refused.err).toContain('then add --yes');
    expect(JSON.parse((await run('dead-letters --json')).out)).toMatchObject({ items: [{}, {}, {}] });
    const asked = await run('dead-letters discard', { isTty: true, answer: 'n' });
    expect(asked.code).toBe(EXIT.usage);
    expect(sqs.depth('holdoff-events-dead')).toBe(1);
  });

  it('what cannot be sent again after all stays, and is named', async () => {
    // No bus is behind this endpoint.
    sqs.send('holdoff-events-dead', JSON.stringify(own));
    const { code, out } = await run('dead-letters replay --yes', { isTty: true });
    expect(code).toBe(EXIT.failed);
    expect(out).toContain('0 sent again; 1 could not be, and stay.');
    expect(sqs.depth('holdoff-events-dead')).toBe(1);
  });

  it('another prefix than the deployment has is refused with what to say', async () => {
    const { code, err } = await run('dead-letters --prefix other');
    expect(code).toBe(EXIT.failed);
    expect(err).toContain('--prefix NAME');
  });

  it('`npm start` has none, and says where they would be', async () => {
    const { code, err } = await holdoff('dead-letters', () => ok({}));
    expect(code).toBe(EXIT.usage);
    expect(err).toContain('name a deployed control plane');
  });
});
