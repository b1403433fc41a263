/** Who a node is, where nobody has said so. */
import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findIdentity } from '../../agent/identity.ts';
import { parseNodeId } from '../../core/kit/ids.ts';

const INSTANCE = 'i-0123456789abcdef0';
const nodeId = parseNodeId(INSTANCE);
let server: Server;
let url: string;
let dir: string;
/** Headers of what was asked, in order. */
const asked: string[] = [];
let broken = false;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-identity-'));
  server = createServer((request, response) => {
    asked.push(
      `${request.method ?? ''} ${request.url ?? ''} ${String(request.headers['x-aws-ec2-metadata-token'] ?? '-')}`,
    );
    const token = request.headers['x-aws-ec2-metadata-token'] === 'the-token';
    const answers: Record<string, string> = {
      '/latest/meta-data/instance-id': INSTANCE,
      '/latest/meta-data/placement/region': 'eu-central-1',
    };
    if (request.method === 'PUT' && request.url === '/latest/api/token' && !broken) response.end('the-token');
    else if (!token) response.writeHead(401).end();
    else response.end(answers[request.url ?? ''] ?? '');
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const find = (given: Partial<Parameters<typeof findIdentity>[0]>, file = join(dir, 'none')) =>
  findIdentity({ nodeId: null, region: null, ...given }, { AWS_EC2_METADATA_SERVICE_ENDPOINT: url }, file, 5000);

describe('the identity of a node', () => {
  test('is what was given, and then nothing is asked', async () => {
    asked.length = 0;
    expect(await find({ nodeId, region: 'eu-west-1' })).toEqual({ nodeId, region: 'eu-west-1' });
    expect(asked).toEqual([]);
  });

  test('is the instance of the metadata service, asked with a token and in no other way', async () => {
    asked.length = 0;
    expect(await find({})).toEqual({ nodeId, region: 'eu-central-1' });
    expect(asked).toEqual([
      'PUT /latest/api/token -',
      'GET /latest/meta-data/instance-id the-token',
      'GET /latest/meta-data/placement/region the-token',
    ]);
  });

  test('is the registration of a hybrid node; what was given holds', async () => {
    const file = join(dir, 'registration');
    writeFileSync(
      file,
      JSON.stringify({ ManagedInstanceID: 'mi-0123456789abcdef0', Region: 'us-west-2', InstanceType: 'x' }),
    );
    expect(await find({}, file)).toEqual({ nodeId: 'mi-0123456789abcdef0', region: 'us-west-2' });
    expect(await find({ region: 'eu-west-1' }, file)).toEqual({ nodeId: 'mi-0123456789abcdef0', region: 'eu-west-1' });
  });

  test.each(['{', '{"instanceIDs": []}'])(
    'a registration that says no such thing (%s) is passed over',
    async (text) => {
      const file = join(dir, 'other');
      writeFileSync(file, text);
      expect(await find({}, file)).toEqual({ nodeId, region: 'eu-central-1' });
    },
  );

  test('that cannot be found out says where it was looked for', async () => {
    broken = true;
    await expect(find({})).rejects.toThrow(/--node-id .*SSM registration.*metadata service.*api\/token answered 401/);
    broken = false;
  });
});
