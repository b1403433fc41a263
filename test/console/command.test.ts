import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { TOKEN_HEADER } from '../../client/page-token.ts';
import type { FakeIo } from '../face/fake-io.ts';
import { holdoff, ok, startedIo, withApi } from '../face/holdoff.ts';

async function printed(io: FakeIo): Promise<URL> {
  while (!io.stdout().includes('#token=')) await wait(20);
  return new URL(/http:\S+/.exec(io.stdout())?.[0] ?? '');
}

describe('holdoff console', () => {
  test('prints an address whose page speaks to the control plane with the credentials of the command, until Ctrl-C', async () => {
    await withApi(
      () => ok({ nodes: { total: 0, byPhase: {} }, vms: { total: 0, byStatus: {} }, attention: [] }),
      async (api) => {
        const io = startedIo(api.localFile);
        const running = runCommandLine(['console', '--port', '0'], COMMANDS, io);
        const address = await printed(io);
        const page = await fetch(address);
        const answer = await fetch(new URL('/v1/summary', address), {
          headers: { [TOKEN_HEADER]: address.hash.replace('#token=', '') },
        });

        expect(await page.text()).toContain('<title>Holdoff</title>');
        expect(await answer.json()).toMatchObject({ api: '1.0', attention: [] });
        // The double refuses what is not signed with the key of its file.
        expect(api.seen).toEqual([{ method: 'GET', path: '/v1/summary', body: undefined }]);
        io.interrupt();
        expect(await running).toBe(EXIT.ok);
        await expect(fetch(address)).rejects.toThrow('fetch failed');
      },
    );
  });

  test('a port that is taken is said, with what to do', async () => {
    await withApi(
      () => ok({}),
      async (api) => {
        const taken = new URL(api.endpoint).port;
        const io = startedIo(api.localFile);
        expect(await runCommandLine(['console', '--port', taken], COMMANDS, io)).toBe(EXIT.usage);
        expect(io.stderr()).toContain(`cannot listen on port ${taken}`);
        expect(io.stderr()).toContain('--port 0');
      },
    );
  });

  test('what is no port is refused before anything is asked', async () => {
    expect((await holdoff('console --port 70000', () => ok({}))).code).toBe(EXIT.usage);
  });
});
