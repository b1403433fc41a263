// @ts-nocheck
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { HANDLERS, type HandlerName } from '../../core/names.ts';
import { BUNDLING } from '../../infra/function.ts';

const KILOBYTES_MAX = 650;

/** The SDK clients each handler may carry: what it does not use, it does not load. */
const TURN = ['dynamodb', 'eventbridge', 'scheduler', 'sqs'];
const CLIENTS: Readonly<Record<HandlerName, readonly string[]>> = {
  api: TURN,
  timer: TURN,
  sweep: TURN,
  status: TURN,
  command: ['dynamodb', 'ssm'],
  log: ['dynamodb'],
};

const functions = fileURLToPath(new URL('../../functions/', import.meta.url));

/** Bundles a handler as `infra/function.ts` has CDK do it. */
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
    logLevel: 'error',
  });
  const [output] = Object.values(metafile.outputs);
  return { bytes: output?.bytes ?? Number.NaN, inputs: Object.keys(output?.inputs ?? {}) };
}

describe.each(HANDLERS)('the bundle of %s', { timeout: 60_000 }, (handler) => {
  test(`is at most ${KILOBYTES_MAX} KB and carries only the clients it uses`, async () => {
    const { bytes, inputs } = await bundle(handler);
    expect(bytes / 1000).toBeLessThanOrEqual(KILOBYTES_MAX);
    const carried = inputs.flatMap((input) => /@aws-sdk\/client-([a-z-]+)\//.exec(input)?.[1] ?? []);
    const surplus = [...new Set(carried)].filter((client) => !CLIENTS[handler].includes(client));
    expect(surplus).toEqual([]);
  });

  test('holds nothing of the laptop: no command line, no emulator, no infrastructure', async () => {
    const { inputs } = await bundle(handler);
    const foreign =
      /(?:^|\/)(?:local|cli|agent|infra|test|bench)\/|node_modules\/(?:aws-cdk-lib|commander|dynalite|croner\/src|zod\/v4\/classic)\//;
    expect(inputs.filter((input) => foreign.test(input))).toEqual([]);
  });
});
