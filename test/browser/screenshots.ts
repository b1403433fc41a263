/** `npm run docs:images [folder]`: the console's pages as they are, light, dark and on a phone, for docs/images. */
import { join, resolve } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { CRASHED, Stage } from './stage.ts';

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '../../docs/images'));

type Shot = {
  readonly name: string;
  readonly path: string;
  readonly until: string | RegExp;
  readonly look: BrowserContextOptions;
};
const DESK: BrowserContextOptions = { viewport: { width: 1180, height: 760 } };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 } };
const dark = { colorScheme: 'dark' } as const;

const SHOTS: readonly Shot[] = [
  { name: 'console-fleet', path: '/', until: /^\d+ nodes, \d+ VMs$/, look: DESK },
  { name: 'console-fleet-dark', path: '/?by=host', until: /^\d+ nodes, \d+ VMs$/, look: { ...DESK, ...dark } },
  { name: 'console-fleet-phone', path: '/', until: /^\d+ nodes, \d+ VMs$/, look: PHONE },
  { name: 'console-node', path: `/nodes/${CRASHED}`, until: 'Timeline', look: DESK },
  { name: 'console-vm-dark', path: '/vms/api-03', until: 'Timeline', look: { ...DESK, ...dark } },
  { name: 'console-node-phone', path: `/nodes/${CRASHED}`, until: 'Timeline', look: { ...PHONE, ...dark } },
  { name: 'console-group', path: '/groups/web', until: 'Promotion', look: { viewport: { width: 1180, height: 900 } } },
];

const stage = new Stage();
await stage.start();
try {
  await stage.fill();
  await stage.crowd();
  for (const { name, path, until, look } of SHOTS) {
    const page = await stage.open(path, look);
    await page.getByText(until).first().waitFor();
    await page.getByText('Looking').first().waitFor({ state: 'detached' });
    await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
    await page.context().close();
    process.stdout.write(`${name}.png\n`);
  }
} finally {
  await stage.stop();
}
