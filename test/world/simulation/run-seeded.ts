/**
 * `npm run test:teeth`: puts each seeded fault into a copy of the sources, and requires that the simulation notices it
 * within 200 seeds. Exit code 1 when a fault goes unnoticed.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SEEDED_FAULTS, type SeededFault } from './faults-seeded.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const SEEDS = 200;

/** How a formatter breaks a line makes no difference. */
const pattern = (find: string): RegExp =>
  new RegExp(
    find
      .split(/\s+/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join(String.raw`\s+`),
    'g',
  );

function seeded(fault: SeededFault): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdoff-teeth-'));
  for (const name of ['core', 'functions', 'world', 'test/world', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const path = join(dir, fault.file);
  const sound = readFileSync(path, 'utf8');
  if ([...sound.matchAll(pattern(fault.find))].length !== 1)
    throw new Error(`${fault.id}: its expression is not exactly once in ${fault.file}; reword the fault`);
  writeFileSync(
    path,
    sound.replace(pattern(fault.find), () => fault.replace),
  );
  return dir;
}

function simulateIn(dir: string): Promise<{ code: number | null; out: string }> {
  return new Promise((done, broken) => {
    const args = ['--import', 'tsx', 'test/world/simulation/run.ts', '--seeds', String(SEEDS), '--bare'];
    const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        out += chunk.toString('utf8');
      });
    child.once('error', broken);
    child.once('close', (code) => done({ code, out }));
  });
}

const only = process.argv.slice(2);
let bad = 0;
const faults = SEEDED_FAULTS.filter(({ id }) => only.length === 0 || only.includes(id));
for (const fault of faults) {
  const dir = seeded(fault);
  try {
    const began = Date.now();
    const { code, out } = await simulateIn(dir);
    const said = /^seed (\d+): (.+)$/m.exec(out);
    const took = `${Math.round((Date.now() - began) / 1000)} s`;
    if (code === 1 && said !== null)
      console.log(`caught     ${fault.id.padEnd(22)} seed ${said[1] ?? ''}, ${took}: ${said[2] ?? ''}`);
    else {
      bad += 1;
      console.log(`UNNOTICED  ${fault.id.padEnd(22)} ${took}: ${fault.what}\n${out.slice(-600)}`);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
console.log(`${faults.length} faults, ${faults.length - bad} caught within ${SEEDS} seeds`);
process.exitCode = bad === 0 && faults.length > 0 ? 0 : 1;
