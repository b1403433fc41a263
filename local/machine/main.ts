/** Runs one machine: `tsx local/machine/main.ts --help`. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { onSupervisorGone } from './supervised.ts';
import { type Faults, faultsSchema } from './faults.ts';
import { Machine, type MachineOptions } from './machine.ts';

const HELP = `machine: a test double of a Bottlerocket node that runs the real agent.

  --data DIR              data directory: machines/<node-id>/ is its disk, managed/<node-id>.json tells SSM's stand-in
  --node-id ID            the node as SSM names it (required)
  --endpoint URL          the control plane (required; else HOLDOFF_ENDPOINT)
  --region NAME           default AWS_REGION, else us-east-1
  --group NAME            the group it enrols in
  --version VERSION       OS version of a new disk (default 1.20.5)
  --offered VERSION       the version the update repository offers (default none)
  --faults FILE           JSON: offeredVersion, failRefresh, failPrepare, failActivate, failDeactivate, bootsBack,
                          busy423, noProgress, garbleStatus, oddStatus, breakStatus, refuseReboot, ignoreReboot (true, or
                          so many times), withdrawn (versions),
                          commandSeconds, rebootSeconds, settingsSeconds
  --command-seconds N     how long an update command takes (default 0.2)
  --reboot-seconds N      how long a reboot takes (default 1)
  --agent FILE            the agent: a bundle (.mjs) or agent/main.ts (default dist/agent.mjs if built, else the source)
  --agent-restart-seconds N  pause before an agent that has ended is started again (default 1)
  --agent-log             the agent's log on stderr instead of DIR/agent.log
  --allow-exec            launch definitions of type exec may run here
  --help                  this text

The agent inherits AWS_* and HOLDOFF_* from this process. The socket in the machine's directory also answers
GET /test/state, POST /test/faults (some of the faults), /test/power-cycle, /test/agent/kill, /test/agent/stop and
/test/agent/start.
`;

const repository = resolve(import.meta.dirname, '../..');

function readOptions(args: string[], env: NodeJS.ProcessEnv): MachineOptions | 'help' {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    args,
    options: {
      data: text,
      'node-id': text,
      endpoint: text,
      region: text,
      group: text,
      version: text,
      offered: text,
      faults: text,
      'command-seconds': text,
      'reboot-seconds': text,
      agent: text,
      'agent-restart-seconds': text,
      'agent-log': flag,
      'allow-exec': flag,
      help: flag,
    },
  });
  if (values.help === true) return 'help';
  const nodeId = values['node-id'];
  const endpoint = values.endpoint ?? env['HOLDOFF_ENDPOINT'];
  if (nodeId === undefined || endpoint === undefined)
    throw new Error('--node-id and --endpoint must be given (see --help)');
  const data = resolve(values.data ?? '.holdoff');
  const restart = values['agent-restart-seconds'];
  const faults: Faults = {
    ...readFaults(values.faults),
    ...(values.offered === undefined ? {} : { offeredVersion: values.offered }),
    ...(values['command-seconds'] === undefined ? {} : { commandSeconds: Number(values['command-seconds']) }),
    ...(values['reboot-seconds'] === undefined ? {} : { rebootSeconds: Number(values['reboot-seconds']) }),
  };
  const inherited = Object.entries(env).filter(([name]) => /^(?:AWS|HOLDOFF)_/.test(name));
  return {
    dir: join(data, 'machines', nodeId),
    managedDir: join(data, 'managed'),
    nodeId,
    endpoint,
    region: values.region ?? env['AWS_REGION'] ?? 'us-east-1',
    version: values.version ?? '1.20.5',
    faults: checkFaults(faults),
    agentCommand: agentCommand(values.agent),
    agentEnv: {
      ...Object.fromEntries(inherited),
      ...(values['allow-exec'] === true ? { HOLDOFF_ALLOW_EXEC: '1' } : {}),
    },
    ...(values.group === undefined ? {} : { group: values.group }),
    ...(restart === undefined ? {} : { agentRestartSeconds: Number(restart) }),
    ...(values['agent-log'] === true ? { agentLog: null } : {}),
  };
}

const readFaults = (file: string | undefined): Faults =>
  file === undefined ? {} : checkFaults(JSON.parse(readFileSync(file, 'utf8')));

function checkFaults(body: unknown): Faults {
  const parsed = faultsSchema.safeParse(body);
  if (!parsed.success) throw new Error(`the faults are wrong: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The command that runs an agent file. */
function agentCommand(file: string | undefined): string[] {
  const bundle = join(repository, 'dist/agent.mjs');
  const chosen = file === undefined ? (existsSync(bundle) ? bundle : join(repository, 'agent/main.ts')) : resolve(file);
  // The loader by its address: the agent's own working directory need not know tsx.
  return chosen.endsWith('.ts')
    ? [process.execPath, '--import', import.meta.resolve('tsx'), chosen]
    : [process.execPath, chosen];
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  const machine = new Machine(options);
  await machine.start();
  process.stderr.write(`${JSON.stringify({ event: 'machine up', nodeId: options.nodeId, socket: machine.socket })}\n`);
  const ended = new Promise<void>((done) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => done());
    onSupervisorGone(done);
  });
  await ended;
  await machine.close();
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`machine: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
