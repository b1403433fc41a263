/** The way to the control plane: credentials, its endpoint, the clock, and whether it accepts who asks. */
import { callOf } from '../../client/request.ts';
import type { Summary } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { between, type Instant, instant, minutes, sayDuration, type Duration, seconds } from '../../core/kit/time.ts';
import { readAnswer } from '../answers.ts';
import type { Client } from '../client.ts';
import type { Connection, Credentials } from '../connection.ts';
import { CliError, ProblemError } from '../errors.ts';
import { fail, type Finding, ok, unchecked, warn } from './finding.ts';

/** AWS refuses a signature whose time is this far from its own. */
const SKEW_REFUSED = minutes(5);
/** As far as a clock that is kept by NTP never goes. */
const SKEW_ODD = seconds(30);
/** Less than this is left of a session that runs out while somebody works. */
const SOON = minutes(10);

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export async function checkCredentials({ credentials, isLocal }: Connection, now: Instant): Promise<Finding> {
  if (isLocal) return ok('credentials', 'those that `npm start` wrote for this directory');
  let found: Credentials;
  try {
    found = await credentials();
  } catch (error) {
    const text = error instanceof CliError ? error.text : { what: reasonOf(error) };
    return fail(
      'credentials',
      text.why === undefined ? text.what : `${text.what}: ${text.why}`,
      text.next ?? 'log in (`aws sso login`), or choose a profile with --profile NAME',
    );
  }
  const whose = `key ${found.accessKeyId}`;
  if (found.expiration === undefined) return ok('credentials', `${whose}, which does not run out`);
  const left = between(now, instant(found.expiration.getTime()));
  const renew = 'log in again (`aws sso login`), or get a new session of the role';
  if (left <= 0) return fail('credentials', `${whose} ran out at ${found.expiration.toISOString()}`, renew);
  const says = `${whose}, good for ${sayDuration(left)} more`;
  return left < SOON ? warn('credentials', says, renew) : ok('credentials', says);
}

/** What an unsigned request has shown. */
export type Probe = { readonly answers: boolean; readonly endpoint: Finding; readonly clock: Finding };

type ProbeSettings = {
  readonly timeout: Duration;
  readonly now: () => Instant;
  readonly interrupted: AbortSignal;
};

/** Asks without a signature: whoever answers at all shows its clock, and must refuse. */
export async function probeEndpoint(
  { endpoint, isLocal }: Connection,
  { timeout, now, interrupted }: ProbeSettings,
): Promise<Probe> {
  const asked = now();
  let response: Response;
  try {
    response = await fetch(endpoint + callOf(ROUTES.getSummary, {}).target, {
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeout), interrupted]),
    });
    await response.text();
  } catch (error) {
    if (interrupted.aborted) throw new CliError('Interrupted', { what: 'interrupted' }, { cause: error });
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return {
      answers: false,
      endpoint: fail(
        'endpoint',
        `${endpoint} does not answer: ${reasonOf(cause)}`,
        isLocal
          ? 'is `npm start` running? Start it in this directory, or set HOLDOFF_DATA=DIR to the data folder of the one that runs'
          : 'check the endpoint (the output Endpoint of the stack) and the way there: DNS, proxy, VPN',
      ),
      clock: unchecked('clock', 'nobody answered who could have said the time'),
    };
  }
  return {
    answers: true,
    endpoint: judgeUnsigned(endpoint, response.status),
    clock: judgeClock(response.headers.get('date'), { asked, answered: now() }),
  };
}

function judgeUnsigned(endpoint: string, status: number): Finding {
  if (status === 401 || status === 403) return ok('endpoint', `${endpoint} answers, and refuses who does not sign`);
  if (status < 300) {
    return fail(
      'endpoint',
      `${endpoint} answers anybody, without a signature (HTTP ${status})`,
      'deploy the stack again: every route has IAM authorization there; look who has changed the API by hand',
    );
  }
  if (status >= 500 || status === 429) {
    return fail(
      'endpoint',
      `${endpoint} answers HTTP ${status}`,
      'try again in a minute; then see docs/runbooks/api-errors.md',
    );
  }
  return fail(
    'endpoint',
    `${endpoint} is not a Holdoff control plane (HTTP ${status})`,
    'take the output Endpoint of the stack, its stage included',
  );
}

/** The header has whole seconds and is written after the request was sent: only what lies outside of both is skew. */
function judgeClock(header: string | null, { asked, answered }: { asked: Instant; answered: Instant }): Finding {
  const theirs = header === null ? Number.NaN : Date.parse(header);
  if (Number.isNaN(theirs)) return unchecked('clock', 'the answer did not say what time it is there');
  const behind = theirs - answered;
  const ahead = asked - (theirs + 1000);
  const off = Math.max(behind, ahead, 0);
  if (off < SKEW_ODD) return ok('clock', 'that of this computer and that of the control plane agree');
  const says = `this computer's clock is ${sayDuration(seconds(Math.round(off / 1000)))} ${behind > ahead ? 'behind' : 'ahead'}`;
  const remedy = 'let the clock be set by NTP (`timedatectl set-ntp true`)';
  return off < SKEW_REFUSED
    ? warn('clock', says, remedy)
    : fail('clock', `${says}: AWS refuses signatures that are 5 min off`, remedy);
}

export type Access = { readonly finding: Finding; readonly summary: Summary | null };

/** The first question that is signed. */
export async function checkAccess(client: Client): Promise<Access> {
  try {
    const { body } = await client.send(callOf(ROUTES.getSummary, {}));
    const summary = readAnswer('summary', body);
    const { nodes, vms } = summary;
    return { finding: ok('access', `may ask: ${nodes.total} nodes, ${vms.total} VMs`), summary };
  } catch (error) {
    if (error instanceof CliError && error.code === 'Interrupted') throw error;
    return { finding: refusedAccess(error), summary: null };
  }
}

function refusedAccess(error: unknown): Finding {
  if (error instanceof ProblemError) {
    return fail(
      'access',
      `refused by the control plane (${error.problem.status} ${error.code}): ${error.message}`,
      'use the identity of an operator or viewer (--profile NAME): that of a node may only speak for its node',
    );
  }
  if (!(error instanceof CliError)) throw error;
  const { what, why, next } = error.text;
  return fail('access', why === undefined ? what : `${what}: ${why}`, next ?? 'see the lines above');
}
