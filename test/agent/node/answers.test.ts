/** What an agent takes from answers that are odd: bounded, clamped, and of a control plane older than it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readNodeAnswer } from '../../../agent/api/answers.ts';
import { exchange } from '../../../agent/http/exchange.ts';
import { wantedOf } from '../../../agent/node/wanted.ts';

const answer = (more: Record<string, unknown> = {}) => ({
  api: '1.0',
  desired: { state: 'StagedUpdate', version: '1.1', generation: 2 },
  reportEverySeconds: 1200,
  ...more,
});

describe('the answer to a report', () => {
  test.each([
    [0.001, 0.1],
    [0.1, 0.1],
    [15, 15],
    [3600, 3600],
    [1e9, 3600],
  ])('that asks for reports every %d s has them every %d s', (asked, kept) => {
    expect(readNodeAnswer(answer({ reportEverySeconds: asked })).reportEverySeconds).toBe(kept);
  });

  test.each([0, -1, null, 'soon'])('that asks for reports every %j is none', (asked) => {
    expect(() => readNodeAnswer(answer({ reportEverySeconds: asked }))).toThrow(/reportEverySeconds/);
  });

  test('of an older control plane says no times: the agent’s own hold', () => {
    const { desired } = readNodeAnswer(answer());
    expect(wantedOf(desired, 0)).toMatchObject({ state: 'StagedUpdate', version: '1.1', generation: 2 });
    expect(desired).not.toHaveProperty('withinSeconds');
    expect(desired).not.toHaveProperty('soakSeconds');
    expect(desired).not.toHaveProperty('beginWithinSeconds');
  });
});

describe('an answer over HTTP', () => {
  let length = 0;
  const server = createServer((_request, response) => response.end(Buffer.alloc(length, ' ')));
  beforeAll(() => new Promise<void>((done) => void server.listen(0, '127.0.0.1', done)));
  afterAll(() => void server.close());
  const ask = () => {
    // Listening on a port, so it has an address of that kind.
    const { port } = server.address() as AddressInfo;
    return exchange({ method: 'GET', url: new URL(`http://127.0.0.1:${port}/`), headers: {}, timeoutMs: 20_000 });
  };

  test('of 1 MiB is taken', async () => {
    length = 1024 * 1024;
    expect((await ask()).text).toHaveLength(length);
  });

  test('that is one byte longer is refused, and says so', async () => {
    length = 1024 * 1024 + 1;
    await expect(ask()).rejects.toThrow('the answer is longer than 1048576 bytes');
  });
});
