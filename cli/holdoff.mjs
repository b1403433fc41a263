#!/usr/bin/env node
/**
 * `holdoff`, as npm installs it: the bundle of one file. In a clone it is built when it is missing or older than a source,
 * so that `npx holdoff` is never yesterday's.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const bundle = new URL('dist/holdoff.mjs', root);
/** What the bundle is made of; a published package has none of it. */
const SOURCES = ['cli', 'client', 'core', 'functions', 'present', 'world'];

/** @param {URL} folder @param {number} since @returns {boolean} */
function hasNewer(folder, since) {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    if (entry.isDirectory()) return hasNewer(new URL(`${entry.name}/`, folder), since);
    return entry.name.endsWith('.ts') && statSync(new URL(entry.name, folder)).mtimeMs > since;
  });
}

const isClone = existsSync(new URL('cli/main.ts', root));
const builtAt = existsSync(bundle) ? statSync(bundle).mtimeMs : 0;
if (isClone && SOURCES.some((folder) => hasNewer(new URL(`${folder}/`, root), builtAt))) {
  const { buildCli } = await import('./build.mjs');
  await buildCli(fileURLToPath(bundle));
}
await import(bundle.href);
