/** The Bottlerocket update API over its Unix socket. */
import { request } from 'node:http';
import * as z from 'zod/mini';
import { AgentError, messageOf, systemCode } from '../failure.ts';
import type { CommandName, UpdateDriver } from './driver.ts';
import { parseUpdateStatus } from './update-status.ts';

const PATHS: Readonly<Record<CommandName, string>> = {
  refresh: '/actions/refresh-updates',
  prepare: '/actions/prepare-update',
  activate: '/actions/activate-update',
  deactivate: '/actions/deactivate-update',
  reboot: '/actions/reboot',
};
const BODY_MAX = 1024 * 1024;
const lockSchema = z.object({ updates: z.object({ 'version-lock': z.string() }) });
/** A transaction of our own: what others have pending in the default one is not ours to commit. */
const TRANSACTION = 'holdoff';
const osSchema = z.object({ version_id: z.string().check(z.minLength(1)) });

/** The driver of a Bottlerocket host: its API behind a socket. */
export function createBottlerocketDriver(socketPath: string, timeoutMs: number): UpdateDriver {
  const call = (method: Method, path: string, body?: unknown) =>
    exchange(socketPath, { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }, timeoutMs);
  return {
    look: async () => {
      const reply = await call('GET', '/updates/status');
      if ('broken' in reply) return { kind: 'unavailable', message: reply.broken };
      if (reply.status === 200) return parseUpdateStatus(reply.body);
      if (reply.status === 404) return { kind: 'none' };
      if (reply.status === 423) return { kind: 'busy' };
      return { kind: 'unavailable', message: `the update API answered ${sayReply(reply)}` };
    },
    command: async (name) => {
      const reply = await call('POST', PATHS[name]);
      if ('broken' in reply) return { kind: 'unclear', message: reply.broken };
      if (reply.status >= 200 && reply.status < 300) return { kind: 'accepted' };
      if (reply.status === 423) return { kind: 'busy' };
      return { kind: 'refused', status: reply.status, message: `the update API answered ${sayReply(reply)}` };
    },
    version: async () => {
      const reply = await call('GET', '/os');
      if ('broken' in reply) return { unavailable: reply.broken };
      if (reply.status !== 200) return { unavailable: `/os answered ${sayReply(reply)}` };
      return readVersion(reply.body);
    },
    settings: async () => {
      const reply = await call('GET', '/settings');
      if ('broken' in reply) throw new AgentError('Host', reply.broken);
      if (reply.status !== 200) throw new AgentError('Host', `/settings answered ${sayReply(reply)}`);
      return parseJson(reply.body);
    },
    versionLock: async () => {
      const reply = await call('GET', '/settings?keys=settings.updates.version-lock');
      if ('broken' in reply || reply.status !== 200) return null;
      const parsed = lockSchema.safeParse(parseJson(reply.body));
      return parsed.success ? parsed.data.updates['version-lock'] : null;
    },
    lockVersion: async (version) => {
      const staged = await call('PATCH', `/settings?tx=${TRANSACTION}`, { updates: { 'version-lock': version } });
      if ('broken' in staged) return staged.broken;
      if (staged.status !== 204) return `PATCH /settings answered ${sayReply(staged)}`;
      const applied = await call('POST', `/tx/commit_and_apply?tx=${TRANSACTION}`);
      if ('broken' in applied) return applied.broken;
      // 422: nothing is pending, so it was so already.
      return applied.status === 200 || applied.status === 422 ? null : `commit_and_apply answered ${sayReply(applied)}`;
    },
  };
}

/** The value, or undefined when the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readVersion(body: string): { version: string } | { unavailable: string } {
  try {
    const parsed = osSchema.safeParse(JSON.parse(body));
    return parsed.success ? { version: parsed.data.version_id } : { unavailable: z.prettifyError(parsed.error) };
  } catch (error) {
    return { unavailable: `/os is not JSON: ${messageOf(error)}` };
  }
}

type Reply = { status: number; body: string };
/** Errors of this API are plain text, with no structure to rely on. */
const sayReply = ({ status, body }: Reply): string => `${status} ${body.trim().slice(0, 300)}`.trim();

/** Without its socket this is no Bottlerocket host, or its API is not mounted here. */
const NO_DRIVER =
  'on a host that is not Bottlerocket set HOLDOFF_DRIVER=script and HOLDOFF_SCRIPTS, on one that is HOLDOFF_UPDATE_SOCKET';

type Method = 'GET' | 'POST' | 'PATCH';

function exchange(
  socketPath: string,
  { method, path, body: sent }: { method: Method; path: string; body?: string },
  timeoutMs: number,
): Promise<Reply | { broken: string }> {
  return new Promise((resolve) => {
    const broken = (error: unknown): void => {
      const hint = systemCode(error) === 'ENOENT' ? `; ${NO_DRIVER}` : '';
      resolve({ broken: `${method} ${path}: ${messageOf(error)}${hint}` });
    };
    const headers =
      sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) };
    const options = { socketPath, method, path, headers, signal: AbortSignal.timeout(timeoutMs) };
    const outgoing = request(options, (incoming) => {
      let body = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        if (body.length < BODY_MAX) body += chunk;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body }));
      incoming.on('error', broken);
    });
    outgoing.on('error', broken);
    outgoing.end(sent);
  });
}
