/** Runs health checks: they look at this node and at nothing else, and none of them throws. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect } from 'node:net';
import { type HookRunner, runCommand } from '../hooks.ts';
import type { AgentCheck, CheckResult } from '../node/monitor-record.ts';

export type CheckTools = {
  readonly runHook: HookRunner;
  /** `systemctl`, by path or by name. */
  readonly systemctl: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ended: AbortSignal;
};
export type Checker = (checks: readonly AgentCheck[]) => Promise<CheckResult[]>;

/** All checks of a round at once; each has its own time. */
export const createChecker =
  (tools: CheckTools): Checker =>
  (checks) =>
    Promise.all(checks.map(async (check) => ({ name: check.name, failure: await run(check, tools) })));

/** Null when it passes. */
async function run(check: AgentCheck, tools: CheckTools): Promise<string | null> {
  const timeoutMs = Math.min(TIMER_MS_MAX, Math.max(1, Math.round(check.timeoutSeconds * 1000)));
  switch (check.type) {
    case 'systemd': {
      const command = [tools.systemctl, 'is-active', '--', check.unit];
      const failure = await runCommand(command, { ...tools.env }, timeoutMs, tools.ended);
      return failure === null ? null : `systemctl is-active ${check.unit} ${failure}`;
    }
    case 'http':
      return askHttp(check, timeoutMs);
    case 'tcp':
      return openTcp(check.port, timeoutMs);
    case 'exec':
      return (await tools.runHook(check.hook, timeoutMs, { slot: `check-${check.hook}` })).failure;
    case 'unknown':
      return `this agent does not know checks of type ${check.kind}: update the agent`;
  }
}

const HOST = '127.0.0.1';
/** A timer that is longer fires at once, and a fraction is refused; a time-out may be up to 365 days. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function askHttp(check: Extract<AgentCheck, { type: 'http' }>, timeoutMs: number): Promise<string | null> {
  const { port, path = '/', scheme = 'http', status: wanted } = check;
  const said = `${scheme} port ${port} ${path}`;
  return new Promise((resolve) => {
    const options = { host: HOST, port, path, signal: AbortSignal.timeout(timeoutMs), agent: false } as const;
    // A service's certificate names the service, not this address; what is checked is that it answers.
    const outgoing =
      scheme === 'https' ? requestHttps({ ...options, rejectUnauthorized: false }) : requestHttp(options);
    outgoing.on('response', (incoming) => {
      const status = incoming.statusCode ?? 0;
      incoming.destroy();
      const healthy = wanted === undefined ? status >= 200 && status < 400 : status === wanted;
      resolve(healthy ? null : `${said} answered ${status}`);
    });
    outgoing.on('error', (error) => resolve(`${said}: ${error.message}`));
    outgoing.end();
  });
}

function openTcp(port: number, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    const end = (failure: string | null): void => {
      socket.destroy();
      resolve(failure);
    };
    socket.setTimeout(timeoutMs, () => end(`tcp port ${port}: no answer in ${timeoutMs / 1000} s`));
    socket.once('connect', () => end(null));
    socket.once('error', (error) => end(`tcp port ${port}: ${error.message}`));
  });
}
