/** Signed requests to the API, and what its answers are. */
import type { ApiCall } from '../client/request.ts';
import { createSigner } from '../client/sign.ts';
import type { Problem } from '../core/contract/answers.ts';
import { sayDuration, type Duration, type Instant } from '../core/kit/time.ts';
import type { Connection } from './connection.ts';
import { CliError, exitOfStatus, ProblemError } from './errors.ts';

export type Answer = { readonly status: number; readonly body: unknown };

/** Speaks to one control plane. Rejects with a `CliError` or `ProblemError`; resolves with a success only. */
export type Client = {
  readonly send: (call: ApiCall) => Promise<Answer>;
};

export type ClientSettings = {
  readonly timeout: Duration;
  readonly interrupted: AbortSignal;
  readonly now: () => Instant;
};

type SignedRequest = { readonly url: string; readonly init: RequestInit };

/** A client that signs each request with SigV4 for the service `execute-api`. */
export function createClient(connection: Connection, settings: ClientSettings): Client {
  return {
    send: async (call) => {
      const request = await signed(connection, settings.now(), call);
      const { status, text, isProblem } = await exchange(request, connection, settings);
      const parsed = parseJson(text);
      if (status >= 200 && status < 300 && parsed !== undefined) return { status, body: parsed };
      throw failure({ status, text, parsed, isProblem }, connection);
    },
  };
}

async function signed(connection: Connection, now: Instant, { method, target, body }: ApiCall): Promise<SignedRequest> {
  const url = new URL(connection.endpoint + target);
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const sign = createSigner({ region: connection.region, identity: connection.credentials, wallMs: () => now });
  const headers = await sign({
    method,
    url,
    body: payload ?? null,
    headers: {
      accept: 'application/json, application/problem+json',
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  return { url: url.href, init: { method, headers, ...(payload === undefined ? {} : { body: payload }) } };
}

type Exchanged = { readonly status: number; readonly text: string; readonly isProblem: boolean };

async function exchange(
  request: SignedRequest,
  connection: Connection,
  { timeout, interrupted }: ClientSettings,
): Promise<Exchanged> {
  const late = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(request.url, {
      ...request.init,
      redirect: 'manual',
      signal: AbortSignal.any([late, interrupted]),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, text, isProblem: type.startsWith('application/problem+json') };
  } catch (error) {
    if (interrupted.aborted) throw new CliError('Interrupted', { what: 'interrupted' }, { cause: error });
    throw late.aborted ? tooLate(connection, timeout, error) : unreachable(connection, error);
  }
}

const tooLate = (connection: Connection, timeout: Duration, cause: unknown): CliError =>
  new CliError(
    'TimedOut',
    {
      what: `no answer from ${connection.endpoint} within ${sayDuration(timeout)}`,
      why: 'it took the connection, or did not refuse it, and then was silent; the request may have been carried out',
      next: 'look how things stand with `show`, then run the command again; wait longer with --timeout 60s',
    },
    { cause },
  );

function unreachable(connection: Connection, error: unknown): CliError {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : (code ?? String(error));
  if (connection.isLocal) {
    return new CliError(
      'Unreachable',
      {
        what: `nothing answers at ${connection.endpoint}`,
        why: reason,
        next: `is \`npm start\` running? ${connection.localFile ?? 'its data folder'} names this address; if another runs, set HOLDOFF_DATA=DIR to its data folder (it prints \`data in DIR\`)`,
      },
      { cause: error },
    );
  }
  return new CliError(
    'Unreachable',
    {
      what: `${connection.endpoint} cannot be reached`,
      why: reason,
      next: 'check the endpoint (the output Endpoint of the stack) and the way there: DNS, proxy, VPN',
    },
    { cause: error },
  );
}

function failure(answer: Exchanged & { parsed: unknown }, connection: Connection): CliError | ProblemError {
  const { status, parsed } = answer;
  if (answer.isProblem && isProblem(parsed)) return new ProblemError(parsed);
  if (status === 401 || status === 403) {
    return new CliError(
      'HttpError',
      {
        what: `${connection.endpoint} does not accept these credentials (HTTP ${status})`,
        why: messageOf(parsed) ?? 'no reason given',
        next: 'check the profile, its permission execute-api:Invoke, the Region, and the clock of this computer',
      },
      { exitCode: exitOfStatus(status) },
    );
  }
  if (status >= 500 || status === 429) {
    return new CliError('HttpError', {
      what: `the control plane failed at the request (HTTP ${status})`,
      why: messageOf(parsed) ?? 'no reason given',
      next: 'try again in a minute; then look at the alarms and logs of the API function',
    });
  }
  return new CliError('NotHoldoff', {
    what: `${connection.endpoint} is not a Holdoff control plane`,
    why: `it answered HTTP ${status} without ${status < 300 ? 'JSON' : 'a reason that this program knows'}`,
    next: 'check the endpoint: it is the output Endpoint of the stack, its stage included',
  });
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'code' in value &&
    typeof value.code === 'string' &&
    'detail' in value &&
    typeof value.detail === 'string' &&
    'status' in value &&
    typeof value.status === 'number'
  );
}

/** API Gateway's own refusals are `{"message": …}`. */
function messageOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('message' in value && typeof value.message === 'string') return value.message;
  return 'Message' in value && typeof value.Message === 'string' ? value.Message : undefined;
}

/** Undefined stands for text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
