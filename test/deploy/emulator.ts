/** The emulated account: ministack in a virtual environment of Python, with authentication on (see emulator.py). */
import { delimiter, join } from 'node:path';
import { mustRun, serve, type Server } from './processes.ts';
import { DeployTestError, until } from './steps.ts';
import { ACCOUNT, freePort, REGION, ROOT, type Workshop } from './workshop.ts';

const HERE = import.meta.dirname;

export interface Emulator {
  readonly url: string;
  /** For programs with a client of AWS: everything goes to the emulator. */
  readonly environment: Readonly<Record<string, string>>;
  readonly server: Server;
}

/** Makes the virtual environment and installs what `requirements.txt` pins; answers its Python. */
export async function installEmulator(workshop: Workshop): Promise<string> {
  const log = workshop.path('logs', 'python.log');
  const venv = workshop.path('venv');
  // The user's environment: pip finds its index, its certificates and its proxy there.
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const options = { cwd: workshop.directory, env, log };
  try {
    await mustRun('python3', ['-m', 'venv', venv], { ...options, timeoutSeconds: 120 });
  } catch (error) {
    throw new DeployTestError(
      'no virtual environment of Python could be made: on Debian, `apt-get install python3-venv` brings what is missing',
      { cause: error },
    );
  }
  const python = join(venv, 'bin', 'python');
  const pinned = ['--no-deps', '--only-binary', ':all:', '--requirement', join(HERE, 'requirements.txt')];
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  await mustRun(python, ['-m', 'pip', 'install', ...quiet, ...pinned], { ...options, timeoutSeconds: 300 });
  return python;
}

export interface EmulatorOptions {
  readonly python: string;
  /** The `node` that the deployed functions run on. */
  readonly node: string;
  /** The table of callers: what the instances of the test sign with. */
  readonly callers: string;
}

/** Starts the emulator on a free port of 127.0.0.1 and waits until it answers. */
export async function startEmulator(workshop: Workshop, options: EmulatorOptions): Promise<Emulator> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { environment } = workshop;
  const account = { AWS_ACCESS_KEY_ID: ROOT.accessKeyId, AWS_SECRET_ACCESS_KEY: ROOT.secretAccessKey };
  const server = serve(options.python, [join(HERE, 'emulator.py')], {
    cwd: workshop.directory,
    log: workshop.path('logs', 'emulator.log'),
    env: {
      ...environment,
      ...account,
      PATH: [join(options.node, '..'), environment['PATH']].join(delimiter),
      AUTH: 'true',
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      MINISTACK_ACCOUNT_ID: ACCOUNT,
      MINISTACK_REGION: REGION,
      S3_DATA_DIR: workshop.path('s3'),
      HOLDOFF_EMULATOR_DOCUMENTS: workshop.path('documents'),
      HOLDOFF_EMULATOR_CALLERS: options.callers,
    },
  });
  const state = await until(
    'the emulator answers',
    async () => {
      if (server.exitCode() !== null) return 'ended';
      return (await fetch(`${url}/_ministack/health`)).ok ? 'answers' : null;
    },
    60,
  );
  if (state === 'ended') throw new DeployTestError(`the emulator ended as soon as it was started:\n${server.log()}`);
  return { url, environment: { ...environment, ...account, AWS_ENDPOINT_URL: url }, server };
}
