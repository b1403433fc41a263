import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { HANDLERS, type HandlerName } from '../../core/contract/names.ts';
import { BUNDLE_ALIASES, BUNDLING } from '../../infra/function.ts';

const KILOBYTES_MAX = 650;

/** The SDK clients each handler may carry: what it does not use, it does not load. */
const TURN = ['dynamodb', 'eventbridge', 'scheduler', 'sqs'];
const CLIENTS: Readonly<Record<HandlerName, readonly string[]>> = {
  api: TURN,
  timer: TURN,
  sweep: [...TURN, 'ssm', 'cloudwatch'],
  status: TURN,
  lifecycle: TURN,
  command: ['dynamodb', 'ssm'],
  log: ['dynamodb'],
};

/** Parts that only some handlers use: whoever else carries one imports what it does not need. */
const PARTS: Readonly<Record<string, { readonly where: RegExp; readonly users: readonly HandlerName[] }>> = {
  'the HTTP application': { where: /^functions\/http\/|node_modules\/hono\//, users: ['api'] },
  'explanations for people': { where: /^core\/node\/describe\.ts$/, users: ['api'] },
  'the event log': { where: /^functions\/aws\/event-log\.ts$/, users: ['api', 'log'] },
  'the sweep': { where: /^functions\/operations\/sweep\.ts$/, users: ['sweep'] },
  'what is due': { where: /^functions\/operations\/due\.ts$/, users: ['timer', 'sweep'] },
  'how a wake ended': { where: /^functions\/operations\/wake-status\.ts$/, users: ['command', 'status'] },
  'SSM Run Command': { where: /^functions\/aws\/run-command\.ts$/, users: ['command'] },
  'arming timers': { where: /^functions\/aws\/timers\.ts$/, users: ['api', 'timer', 'sweep', 'status', 'lifecycle'] },
  'queueing wakes': { where: /^functions\/aws\/wakes\.ts$/, users: ['api', 'timer', 'sweep', 'status', 'lifecycle'] },
  'the event bus': { where: /^functions\/aws\/bus\.ts$/, users: ['api', 'timer', 'sweep', 'status', 'lifecycle'] },
  'turns of nodes': {
    where: /^core\/node\/decide\.ts$/,
    users: ['api', 'timer', 'sweep', 'status', 'lifecycle', 'command'],
  },
};

const functions = fileURLToPath(new URL('../../functions/', import.meta.url));

/** Bundles a handler as `infra/function.ts` has CDK do it; the inputs are those of which something is left. */
async function bundle(handler: HandlerName): Promise<{ bytes: number; inputs: string[] }> {
  const { metafile } = await build({
    entryPoints: [`${functions}${handler}.ts`],
    bundle: true,
    write: false,
    metafile: true,
    outfile: 'index.mjs',
    platform: 'node',
    format: 'esm',
    target: BUNDLING.target ?? 'node24',
    mainFields: [...(BUNDLING.mainFields ?? [])],
    minify: BUNDLING.minify ?? false,
    alias: { ...BUNDLE_ALIASES },
    logLevel: 'error',
    absWorkingDir: fileURLToPath(new URL('../../', import.meta.url)),
  });
  const [output] = Object.values(metafile.outputs);
  const used = Object.entries(output?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [input] : [],
  );
  return { bytes: output?.bytes ?? Number.NaN, inputs: used };
}

/** Each handler is bundled once, whatever is asked of its bundle. */
const bundles = new Map<HandlerName, ReturnType<typeof bundle>>();
function bundleOf(handler: HandlerName): ReturnType<typeof bundle> {
  const known = bundles.get(handler) ?? bundle(handler);
  bundles.set(handler, known);
  return known;
}

describe.each(HANDLERS)('the bundle of %s', { timeout: 60_000 }, (handler) => {
  test(`is at most ${KILOBYTES_MAX} KB and carries the clients it uses and no other`, async () => {
    const { bytes, inputs } = await bundleOf(handler);
    expect(bytes / 1000).toBeLessThanOrEqual(KILOBYTES_MAX);
    const carried = inputs.flatMap((input) => /@aws-sdk\/client-([a-z-]+)\//.exec(input)?.[1] ?? []);
    expect(new Set(carried)).toEqual(new Set(CLIENTS[handler]));
  });

  test('carries the parts it uses and no other', async () => {
    const { inputs } = await bundleOf(handler);
    const carried = Object.keys(PARTS).filter((part) => inputs.some((input) => PARTS[part]?.where.test(input)));
    expect(carried).toEqual(Object.keys(PARTS).filter((part) => PARTS[part]?.users.includes(handler)));
  });

  test('holds nothing of the laptop: no command line, no emulator, no infrastructure', async () => {
    const { inputs } = await bundleOf(handler);
    const foreign =
      /(?:^|\/)(?:local|cli|agent|infra|test|bench)\/|node_modules\/(?:aws-cdk-lib|commander|dynalite|croner\/src|zod\/v4\/classic)\//;
    expect(inputs.filter((input) => foreign.test(input))).toEqual([]);
  });
});
