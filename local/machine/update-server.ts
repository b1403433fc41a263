/** The Bottlerocket API of a machine on its Unix socket: plain-text errors, 204 for "started", 423 while one runs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { NodeSettings } from './node-settings.ts';
import type { Reply } from './reply.ts';
import type { CommandName, UpdateStatus } from './update-state.ts';

/** What the server asks of the machine behind it. */
export type UpdateHost = {
  /** False while the machine is down: connections drop. */
  up(): boolean;
  locked(): boolean;
  /** Null when no update command has run since boot. */
  status(): UpdateStatus | null;
  garbled(): boolean;
  /** Whether the status is to have a state and fields that nobody knows. */
  odd(): boolean;
  /** Whether the status is answered 500 with plain text. */
  broken(): boolean;
  readonly settings: NodeSettings;
  begin(command: CommandName): Reply;
  reboot(): Reply;
  version(): string;
  /** Requests below /test/: they are for whoever drives the machine, and are answered while it is down too. */
  control(method: string, path: string, body: unknown): Promise<Reply>;
};

const COMMANDS: Readonly<Record<string, CommandName>> = {
  '/actions/refresh-updates': 'refresh',
  '/actions/prepare-update': 'prepare',
  '/actions/activate-update': 'activate',
  '/actions/deactivate-update': 'deactivate',
};
const LOCKED: Reply = { status: 423, text: 'Unable to obtain exclusive lock to perform action' };
const NOT_FOUND: Reply = { status: 404, text: '' };

export function serveUpdateApi(socket: string, host: UpdateHost): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request, host).then(
      (reply) => send(request, response, reply),
      (error: unknown) =>
        send(request, response, { status: 500, text: error instanceof Error ? error.message : String(error) }),
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

/** The body of a request; undefined when it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Null: the connection is dropped. */
async function answer(request: IncomingMessage, host: UpdateHost): Promise<Reply | null> {
  const method = request.method ?? 'GET';
  const url = new URL(request.url ?? '/', 'http://localhost');
  const body = await readBody(request);
  if (url.pathname.startsWith('/test/')) {
    return host.control(method, url.pathname.slice('/test'.length), body === '' ? null : JSON.parse(body));
  }
  if (!host.up()) return null;
  if (method === 'GET') return answerGet(url, host);
  const transaction = url.searchParams.get('tx') ?? 'default';
  if (method === 'PATCH' && url.pathname === '/settings') return host.settings.patch(transaction, parse(body));
  if (method !== 'POST') return { status: 405, text: '' };
  if (url.pathname === '/actions/reboot') return host.reboot();
  if (url.pathname === '/tx/commit_and_apply') return host.settings.commit(transaction);
  const command = COMMANDS[url.pathname];
  if (command === undefined) return NOT_FOUND;
  return host.locked() ? LOCKED : host.begin(command);
}

function answerGet(url: URL, host: UpdateHost): Reply {
  switch (url.pathname) {
    case '/updates/status': {
      if (host.locked()) return { status: 423, text: 'Unable to obtain shared lock for reading update status' };
      const status = host.status();
      if (status === null) return { status: 404, text: 'No update status found' };
      if (host.broken()) return { status: 500, text: 'Update dispatcher failed: no such file or directory' };
      if (host.odd())
        return { status: 200, json: { ...status, update_state: 'Baking', most_recent_command: null, mood: 1 } };
      return host.garbled()
        ? { status: 200, text: JSON.stringify(status).slice(0, 40) }
        : { status: 200, json: status };
    }
    case '/os':
      return { status: 200, json: osOf(host.version(), url.searchParams.get('prefix')) };
    case '/settings':
      return host.settings.get(url.searchParams);
    default:
      return NOT_FOUND;
  }
}

function osOf(version: string, prefix: string | null): Record<string, string> {
  const os = {
    pretty_name: `Bottlerocket OS ${version} (aws-ecs-2)`,
    variant_id: 'aws-ecs-2',
    version_id: version,
    build_id: 'f0f0f0f0',
    arch: 'x86_64',
  };
  return Object.fromEntries(Object.entries(os).filter(([name]) => prefix === null || name.startsWith(prefix)));
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => resolve(body));
    request.on('error', reject);
  });
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply | null): void {
  if (reply === null) {
    request.socket.destroy();
    return;
  }
  const body = reply.json === undefined ? (reply.text ?? '') : JSON.stringify(reply.json);
  const type = reply.json === undefined ? 'text/plain' : 'application/json';
  response.writeHead(reply.status, { ...(body === '' ? {} : { 'content-type': type }), connection: 'close' });
  response.end(body);
}
