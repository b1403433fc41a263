import { describe, expect, it } from 'vitest';
import { resolveConnection, type ConnectionOptions } from '../../cli/connection.ts';
import { CliError, EXIT } from '../../cli/errors.ts';
import { fakeIo, type World } from './fake-io.ts';

const LOCAL = JSON.stringify({
  endpoint: 'http://127.0.0.1:4000/',
  region: 'us-east-1',
  credentials: { accessKeyId: 'A', secretAccessKey: 'S' },
});

async function refusal(options: ConnectionOptions, world: World = {}): Promise<CliError> {
  try {
    await resolveConnection(options, fakeIo(world));
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('without an endpoint', () => {
  it('the control plane that `npm start` runs in this directory is asked, with its credentials', async () => {
    const connection = await resolveConnection({}, fakeIo({ files: { '/here/.holdoff/local.json': LOCAL } }));
    expect(connection).toMatchObject({ endpoint: 'http://127.0.0.1:4000', region: 'us-east-1', isLocal: true });
    expect(await connection.credentials()).toEqual({ accessKeyId: 'A', secretAccessKey: 'S' });
  });

  it('HOLDOFF_DATA says where else it keeps its data', async () => {
    const world = { env: { HOLDOFF_DATA: '/data' }, files: { '/data/local.json': LOCAL } };
    expect(await resolveConnection({}, fakeIo(world))).toMatchObject({ isLocal: true });
  });

  it('says what to start when there is none', async () => {
    const error = await refusal({});
    expect(error).toMatchObject({ code: 'NoLocalControlPlane', exitCode: EXIT.unreachable });
    expect(error.text.why).toBe('/here/.holdoff/local.json does not exist');
    expect(error.text.next).toContain('`npm start`');
  });

  it('a run of this directory that keeps its data elsewhere is found, when nobody runs at the usual place', async () => {
    const files = {
      '/here/.holdoff/local.json': LOCAL.replace('4000', '3999'),
      '/here/.holdoff/start.pid': '10',
      '/here/.holdoff/elsewhere/11': '/data',
      '/here/.holdoff/elsewhere/12': '/gone',
      '/data/local.json': LOCAL,
    };
    expect(await resolveConnection({}, fakeIo({ files, alive: [11] }))).toMatchObject({
      endpoint: 'http://127.0.0.1:4000',
    });
    expect(await resolveConnection({}, fakeIo({ files, alive: [10, 11] }))).toMatchObject({
      endpoint: 'http://127.0.0.1:3999',
    });
    expect(await resolveConnection({}, fakeIo({ files }))).toMatchObject({ endpoint: 'http://127.0.0.1:3999' });
  });

  it('of several that are elsewhere it says how to name each', async () => {
    const files = { '/here/.holdoff/elsewhere/11': '/data', '/here/.holdoff/elsewhere/12': '/more' };
    const error = await refusal({}, { files, alive: [11, 12] });
    expect(error).toMatchObject({ code: 'NoLocalControlPlane', exitCode: EXIT.unreachable });
    expect(error.text.next).toBe('name one: HOLDOFF_DATA=/data, or HOLDOFF_DATA=/more');
  });

  it.each(['', 'nonsense', '{}', '{"endpoint":1}', '[]'])('refuses a local file that says %j', async (text) => {
    const error = await refusal({}, { files: { '/here/.holdoff/local.json': text } });
    expect(error).toMatchObject({ code: 'BadLocalFile', exitCode: EXIT.unreachable });
  });

  it.each([{ region: 'eu-west-1' }, { profile: 'ops' }])('refuses %j, which would change nothing', async (options) => {
    expect(await refusal(options)).toMatchObject({ code: 'Usage', exitCode: EXIT.usage });
  });
});

describe('with an endpoint', () => {
  const api = 'https://abc.execute-api.eu-west-1.amazonaws.com/prod';

  it.each<[what: string, options: ConnectionOptions, env: Record<string, string>, region: string]>([
    ['the option', { endpoint: api, region: 'us-east-2' }, { HOLDOFF_REGION: 'us-west-2' }, 'us-east-2'],
    ['HOLDOFF_REGION', { endpoint: api }, { HOLDOFF_REGION: 'us-west-2', AWS_REGION: 'x' }, 'us-west-2'],
    ["API Gateway's host name", { endpoint: api }, { AWS_REGION: 'us-west-2' }, 'eu-west-1'],
    ['AWS_REGION', { endpoint: 'https://holdoff.example' }, { AWS_REGION: 'us-west-2' }, 'us-west-2'],
  ])('the Region comes from %s', async (_what, options, env, region) => {
    const connection = await resolveConnection(options, fakeIo({ env }));
    expect(connection).toMatchObject({ region, isLocal: false });
  });

  it('the environment names it as well as the option', async () => {
    const connection = await resolveConnection({}, fakeIo({ env: { HOLDOFF_ENDPOINT: `${api}/` } }));
    expect(connection.endpoint).toBe(api);
  });

  it('asks for a Region that nothing names', async () => {
    expect(await refusal({ endpoint: 'https://holdoff.example' })).toMatchObject({
      code: 'Usage',
      exitCode: EXIT.usage,
    });
  });

  it.each(['holdoff.example', 'ftp://holdoff.example', 'https://x.example/?a=b'])('refuses %s', async (endpoint) => {
    expect(await refusal({ endpoint, region: 'us-east-1' })).toMatchObject({ code: 'Usage', exitCode: EXIT.usage });
  });

  it('says how to log in when AWS has no credentials for a profile', async () => {
    const connection = await resolveConnection({ endpoint: api, profile: 'no-such-profile' }, fakeIo());
    await expect(connection.credentials()).rejects.toMatchObject({
      code: 'NoCredentials',
      exitCode: EXIT.unreachable,
      text: { what: 'no AWS credentials to sign with' },
    });
  });
});
