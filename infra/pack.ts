/** `npm pack` runs this first: the constructs as JavaScript with types, and every handler bundled, in `dist/`. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { HANDLERS } from '../core/contract/names.ts';
import { BUNDLE_ALIASES, BUNDLING } from './function.ts';
import { PROJECT_ROOT, VERSION } from './settings.ts';

const dist = join(PROJECT_ROOT, 'dist');
for (const folder of ['infra', 'core', 'bundles', 'docs', 'agent', 'console']) {
  rmSync(join(dist, folder), { recursive: true, force: true });
}
mkdirSync(dist, { recursive: true });
execFileSync(process.execPath, [join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.lib.json'], {
  cwd: PROJECT_ROOT,
  stdio: 'inherit',
});
for (const handler of HANDLERS) {
  buildSync({
    entryPoints: [join(PROJECT_ROOT, 'functions', `${handler}.ts`)],
    outfile: join(dist, 'bundles', handler, 'index.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: BUNDLING.target ?? 'node24',
    mainFields: [...(BUNDLING.mainFields ?? [])],
    minify: BUNDLING.minify ?? false,
    alias: { ...BUNDLE_ALIASES },
    absWorkingDir: PROJECT_ROOT,
    logLevel: 'warning',
  });
}
execFileSync(process.execPath, [join(PROJECT_ROOT, 'cli/build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
execFileSync(process.execPath, [join(PROJECT_ROOT, 'console/build.mjs'), join(dist, 'console')], { stdio: 'inherit' });
// What the constructs read when they are synthesised stands where they look for it.
cpSync(join(PROJECT_ROOT, 'docs/runbooks'), join(dist, 'docs/runbooks'), { recursive: true });
mkdirSync(join(dist, 'agent'), { recursive: true });
cpSync(join(PROJECT_ROOT, 'agent/distribution'), join(dist, 'agent/distribution'), { recursive: true });
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ type: 'module', version: VERSION })}\n`);
