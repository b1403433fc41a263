/** The zone that a report names: from the metadata service, or as the host's owner has set it (DESIGN section 2b, Zones). */
import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { bundleAgent, Scene, until } from './scene.ts';

let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
let server: Server;
let url: string;
beforeAll(async () => {
  agent = bundleAgent();
  server = createServer((request, response) => {
    const token = request.headers['x-aws-ec2-metadata-token'] === 'the-token';
    if (request.method === 'PUT' && request.url === '/latest/api/token') response.end('the-token');
    else if (token && request.url === '/latest/meta-data/placement/availability-zone') response.end('eu-west-1b\n');
    else response.writeHead(token ? 404 : 401).end();
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(() => {
  server.close();
  agent.remove();
});
beforeEach(() => {
  scene = new Scene(agent.bundle);
  scene.plane.node.updates = false;
});
afterEach(() => scene.close());

const zone = (): string | undefined => scene.plane.reports.at(-1)?.zone;

test.each([
  ['the metadata service says it', {}, 'eu-west-1b'],
  ['what its owner has set holds', { HOLDOFF_ZONE: 'rack-7' }, 'rack-7'],
])('%s', async (_what, env, expected) => {
  await scene.boot({ agentEnv: { AWS_EC2_METADATA_SERVICE_ENDPOINT: url, ...env } });
  await until(
    'a zone',
    () => zone() !== undefined,
    () => scene.log(),
  );
  expect(zone()).toBe(expected);
});

test('a host that nobody can say it of reports without one', async () => {
  await scene.boot({
    agentEnv: { AWS_EC2_METADATA_SERVICE_ENDPOINT: `${url}/nowhere/`, AWS_EC2_METADATA_DISABLED: 'true' },
  });
  await until('three reports', () => scene.plane.reports.length >= 3);
  expect(scene.plane.reports.map((report) => report.zone)).not.toContainEqual(expect.anything());
});
