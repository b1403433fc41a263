/**
 * `npm run bench:console [-- NODES]`: the console against the real local control plane with so many stored nodes (10 000), in
 * a real browser: first paint, all marks shown, frames while scrolling, bytes of the bundle. Printed, never a test.
 */
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { NodeId } from '../../core/kit/ids.ts';
import { until } from '../system/laptop.ts';
import { NEW, QUIET, Stage } from './stage.ts';

const COUNT = Number(process.argv[2] ?? 10_000);
const SCROLL_FRAMES = 240;

/** What runs in the page. */
const PAINT = `new Promise((done) => new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') done(entry.startTime);
}).observe({ type: 'paint', buffered: true }))`;
const SCROLL = `new Promise((done) => {
  const gaps = [];
  let last = performance.now();
  const step = (at) => {
    gaps.push(at - last);
    last = at;
    const down = Math.floor(gaps.length / 60) % 2 === 0;
    scrollBy(0, down ? 24 : -24);
    if (gaps.length > ${SCROLL_FRAMES}) done(gaps.slice(1));
    else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

const stage = new Stage();
await stage.start();
try {
  await stage.laptop.group('web', { maxConcurrentUpdates: 1 });
  await stage.report(QUIET, { group: 'web', currentVersion: NEW });
  await store(COUNT);
  const bundle = await Promise.all(['/index.html', '/console.js', '/console.css', '/icon.svg'].map(bytesOf));
  const page = await stage.open('/');
  const started = Date.now();
  await page.goto(`${stage.server.origin}/`);
  const paint = Number(await page.evaluate(PAINT));
  await page.getByRole('application').waitFor();
  const marks = Date.now() - started;
  await page.getByRole('heading', { name: `${COUNT.toLocaleString('en')} nodes, 0 VMs` }).waitFor({ timeout: 300_000 });
  const all = Date.now() - started;
  const frames = await scroll(page);
  console.table({
    'first contentful paint, ms': Math.round(paint),
    'first marks drawn, ms': marks,
    [`all ${COUNT} marks drawn, ms`]: all,
    'frames a second while scrolling, median': frames.median,
    'frames a second while scrolling, slowest 1 %': frames.slowest,
    'bundle, KB gzipped': Math.round(bundle.reduce((sum, one) => sum + one, 0) / 102.4) / 10,
  });
} finally {
  await stage.stop();
}

/** Copies of one node that the control plane itself has stored, each with an id of its own. */
async function store(count: number): Promise<void> {
  await stage.laptop.whileDown(async (table) => {
    // QUIET is a node id.
    const loaded = await table.load('node', QUIET as NodeId);
    if (loaded === null) throw new Error('the node that reported is not stored');
    const numbers = Array.from({ length: count - 1 }, (_, n) => n);
    while (numbers.length > 0)
      await Promise.all(
        numbers.splice(0, 50).map((n) => {
          // Seventeen hexadecimal digits, as EC2 gives them.
          const nodeId = `i-f${String(n).padStart(16, '0')}` as NodeId;
          return table.save('node', { ...loaded.record, nodeId, revision: 1 }, 0, `bench-${n}`);
        }),
      );
  });
  await until('the control plane answers again', () => stage.laptop.nodes());
}

async function bytesOf(path: string): Promise<number> {
  const response = await fetch(stage.server.origin + path);
  return gzipSync(Buffer.from(await response.arrayBuffer())).length;
}

/** Scrolls up and down, a piece each frame, and measures from frame to frame. */
async function scroll(page: Page): Promise<{ median: number; slowest: number }> {
  // The page gives what the script below returns.
  const gaps = (await page.evaluate(SCROLL)) as number[];
  const sorted = gaps.toSorted((a, b) => a - b);
  const perSecond = (share: number): number => Math.round(1000 / (sorted[Math.floor(sorted.length * share)] ?? 1));
  return { median: perSecond(0.5), slowest: perSecond(0.99) };
}
