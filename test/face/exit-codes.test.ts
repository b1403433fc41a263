import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { CREDENTIALS, problem, startApi, type Reply } from './api-double.ts';
import type { World } from './fake-io.ts';
import { runningVm } from './fleet.ts';
import { holdoff, items, ok, startedIo, withApi, type Ran } from './holdoff.ts';

describe('exit codes and error messages', () => {
  const told = async (line: string, reply: Reply | 'silence', world: World = {}): Promise<Ran> =>
    holdoff(line, () => reply, world);

  it('1: a refusal says what happened, why, and what to try', async () => {
    const ran = await told(
      'vms start web',
      problem(409, 'RunStrategyForbids', 'web is Halted: change its run strategy first.'),
    );
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.out).toBe('');
    expect(ran.err).toBe(
      [
        'error: vms start web: refused by the control plane (409 RunStrategyForbids)',
        '  why: web is Halted: change its run strategy first.',
        '  try: see how things stand now: holdoff vms show web',
        '',
      ].join('\n'),
    );
  });

  it('1: a body that is refused names the fields at fault', async () => {
    const refusal = problem(400, 'InvalidBody', 'The body is not a VM.', [
      { path: 'launch.domain', message: 'must be text' },
      { path: '', message: 'unknown field "hosts"' },
    ]);
    const ran = await told('vms put web --file -', refusal, { stdin: '{}' });
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.err).toContain('    launch.domain: must be text\n    the body: unknown field "hosts"\n');
  });

  it('1: an instance that is not known ended names the way out', async () => {
    const ran = await told('vms put web --file -', problem(409, 'InstanceNotEnded', 'web-1 may still run.'), {
      stdin: '{}',
    });
    expect(ran.err).toContain('holdoff vms stop web');
  });

  it('1: a failure of the API without a problem', async () => {
    const ran = await told('nodes', { status: 503, body: { message: 'Service Unavailable' } });
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.err).toContain('why: Service Unavailable');
  });

  it.each([
    ['another API version', { body: { api: '2.0', items: [] } }],
    ['no API version', { body: { items: [] } }],
    ['something that is no list', ok({ nodes: [] })],
    ['items of another kind', items(runningVm())],
  ])('1: an answer with %s', async (_what, reply) => {
    const ran = await told('nodes', reply);
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.err).toContain('try: ');
  });

  it.each([
    ['nodes nothing', {}],
    ['vms put web --file missing.json', {}],
    ['vms put web --file bad.json', { files: { 'bad.json': '{"a":' } }],
    ['vms put web --file -', { stdin: 'yaml: yes' }],
    ['nodes --watch', {}],
    ['nodes --watch --json', { isTty: true }],
  ])('2: %s, and nothing is sent', async (line, world) => {
    const ran = await holdoff(line, () => items(), world);
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err).toMatch(/error"?: /);
    expect(ran.api.seen).toEqual([]);
  });

  it('3: nothing listens where `npm start` was', async () => {
    const gone = await startApi(() => items());
    await gone.close();
    const io = startedIo(gone.localFile);
    expect(await runCommandLine(['nodes'], COMMANDS, io)).toBe(EXIT.unreachable);
    expect(io.stderr()).toContain(`error: nodes: nothing answers at ${gone.endpoint}`);
    expect(io.stderr()).toContain('ECONNREFUSED');
    expect(io.stderr()).toContain('try: is `npm start` running?');
  });

  it('3: credentials that are not accepted', async () => {
    const err = await withApi(
      () => items(),
      async (api) => {
        const io = startedIo(api.localFile.replace(CREDENTIALS.secretAccessKey, 'another-secret'));
        expect(await runCommandLine(['nodes'], COMMANDS, io)).toBe(EXIT.unreachable);
        expect(api.seen).toEqual([]);
        return io.stderr();
      },
    );
    expect(err).toContain('does not accept these credentials (HTTP 403)');
  });

  it("3: a node's identity on an operator's route", async () => {
    const ran = await told('nodes', problem(403, 'OperatorOnly', 'A node may not list nodes.'));
    expect(ran.code).toBe(EXIT.unreachable);
    expect(ran.err).toContain('use the identity of an operator');
  });

  it('3: an answer that does not come in time', async () => {
    const ran = await told('nodes --timeout 0.1s', 'silence');
    expect(ran.code).toBe(EXIT.unreachable);
    expect(ran.err).toContain('within 1 s');
  });

  it.each([
    ['a page', { type: 'text/html', body: '<html>welcome</html>' }],
    ["API Gateway's own 404", { status: 404, body: { message: 'Not Found' } }],
    ['a redirect', { status: 302, body: {} }],
  ])('3: something else than Holdoff answers: %s', async (_what, reply) => {
    const ran = await told('nodes', reply);
    expect(ran.code).toBe(EXIT.unreachable);
    expect(ran.err).toContain('is not a Holdoff control plane');
  });

  it('4: there is no such thing', async () => {
    const ran = await told('vms show web', problem(404, 'UnknownVm', 'There is no VM web.'));
    expect(ran.code).toBe(EXIT.notFound);
    expect(ran.err).toContain('why: There is no VM web.');
    expect(ran.err).toContain('try: see what there is: holdoff vms');
  });

  it('130: Ctrl-C while an answer is awaited', async () => {
    let interrupt = (): void => undefined;
    const respond = (): 'silence' => {
      interrupt();
      return 'silence';
    };
    await withApi(respond, async (api) => {
      const io = startedIo(api.localFile);
      interrupt = io.interrupt;
      expect(await runCommandLine(['nodes'], COMMANDS, io)).toBe(EXIT.interrupted);
    });
  });

  it('with --json an error is JSON too, with the problem of the API in it', async () => {
    const refusal = problem(404, 'UnknownVm', 'There is no VM web.');
    const ran = await told('vms show web --json', refusal);
    expect(ran.out).toBe('');
    expect(JSON.parse(ran.err)).toMatchObject({
      error: { code: 'UnknownVm', exitCode: 4, command: 'vms show', why: 'There is no VM web.', problem: refusal.body },
    });
  });

  it('a message of the API cannot command the terminal', async () => {
    const ran = await told('vms show web', problem(404, 'UnknownVm', '\u001b[2Jgone'), { isTty: true });
    expect(ran.err).toContain('why: gone');
  });
});
