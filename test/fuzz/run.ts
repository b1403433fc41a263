/**
 * `npm run test:fuzz`: schemathesis against the document that the control plane on this machine serves. Every call is
 * made many times with data that fits its schema and data that does not; nothing may be answered 5xx, and every answer
 * must fit its schema. `--seed N` or `--seed random` chooses the draws, `--examples N` how many of them.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { closeAnswers } from './close-answers.ts';
import { declareFleet } from './fleet.ts';
import { tryGeneratedClient } from './generated-client.ts';
import { ensurePython } from './python.ts';
import { serve } from './served.ts';
import { startSigningProxy } from './signing-proxy.ts';

const SEED = 160_5905;
const EXAMPLES = 20;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'valid_data_is_taken',
];

const { values } = parseArgs({
  options: { seed: { type: 'string' }, examples: { type: 'string' } },
});
const seed = values.seed === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed ?? SEED);
const examples = Number(values.examples ?? EXAMPLES);

const schemathesis = join(ensurePython('.venv-fuzz', 'requirements.txt'), 'schemathesis');
const dir = mkdtempSync(join(tmpdir(), 'holdoff-fuzz-'));
const served = await serve(dir);
const proxy = await startSigningProxy(served);
await declareFleet(proxy.url);
const document: unknown = await (await fetch(`${proxy.url}/v1/openapi.json`)).json();
const file = join(dir, 'openapi.json');
const asServed = join(dir, 'as-served.json');
writeFileSync(asServed, JSON.stringify(document));
writeFileSync(file, JSON.stringify(closeAnswers(document)));
const clientWorks = await tryGeneratedClient(asServed, dir, proxy.url);

process.stdout.write(`seed ${seed}, ${examples} examples a call; again with: npm run test:fuzz -- --seed ${seed}\n`);
const started = Date.now();
const code = await new Promise<number>((done) => {
  const run = spawn(
    schemathesis,
    [
      'run',
      file,
      '--url',
      proxy.url,
      '--workers',
      '1',
      '--seed',
      String(seed),
      '--max-examples',
      String(examples),
      '--checks',
      CHECKS.join(','),
      '--phases',
      'examples,coverage,fuzzing,stateful',
      '--continue-on-failure',
      '--generation-database',
      'none',
      '--generation-with-security-parameters',
      'false',
      '--no-color',
      '--suppress-health-check',
      'all',
      '--request-timeout',
      '20',
    ],
    {
      cwd: resolve(import.meta.dirname),
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: 'hooks',
        PYTHONPATH: import.meta.dirname,
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: 'inherit',
    },
  );
  run.once('exit', (status) => done(status ?? 1));
});
const statuses = [...proxy.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
process.stdout.write(`${Math.round((Date.now() - started) / 1000)} s; answers by status: ${statuses.join(', ')}\n`);
await proxy.close();
await served.stop();
if (code === 0 && clientWorks) rmSync(dir, { recursive: true, force: true });
else process.stdout.write(`the control plane's log: ${served.log}\n`);
process.exitCode = code !== 0 ? code : clientWorks ? 0 : 1;
