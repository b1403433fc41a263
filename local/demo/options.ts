/** What `npm start` was told; what it does not understand is refused with a sentence, and never silently left out. */
import { parseArgs } from 'node:util';

const OPTIONS = {
  'no-demo': { type: 'boolean', default: false },
  qemu: { type: 'boolean', default: false },
  fresh: { type: 'boolean', default: false },
  port: { type: 'string' },
  'page-port': { type: 'string' },
  data: { type: 'string' },
  plain: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

export type StartOptions = ReturnType<typeof parsed>;

const parsed = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;

/** @returns the options, or why they are refused */
export function readStartOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartOptions | { readonly refused: string } {
  const kept = keptByNpm(env);
  if (kept.length > 0) {
    const words = kept.map((name) => `--${name}`).join(' and ');
    return { refused: `npm has kept ${words} for itself. Put -- before the options: npm start -- --${kept[0]} …` };
  }
  try {
    return parsed(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { refused: error.message };
  }
}

/** `npm start --fresh` hands nothing over: npm takes the option for one of its own, and sets a variable. */
const keptByNpm = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(OPTIONS).filter((name) =>
    name === 'no-demo'
      ? env['npm_config_demo'] === ''
      : name !== 'help' && env[`npm_config_${name.replaceAll('-', '_')}`] === 'true',
  );
