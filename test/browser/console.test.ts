import { source as axe } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CRASHED, MARKUP, QUEUED, QUIET, Stage, VM_HOST } from './stage.ts';

const stage = new Stage();
/** What a browser says that nobody should have to hear: errors of scripts, and refusals of the page's policy. */
const complaints: string[] = [];
const strangers: string[] = [];
let pages: Page[] = [];

beforeAll(async () => {
  await stage.start();
  await stage.fill();
  await stage.beHostile();
}, 120_000);
afterAll(() => stage.stop());
afterEach(async () => {
  for (const page of pages) await page.context().close();
  pages = [];
});

async function open(path: string, options: Parameters<Stage['open']>[1] = {}): Promise<Page> {
  const page = await stage.open(path, options);
  pages.push(page);
  page.on('pageerror', (error) => complaints.push(`${path}: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|violates/.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${stage.server.origin}/`)) strangers.push(request.url());
  });
  return page;
}

/** Found as a person finds it: by its role and what it is called. */
const link = (page: Page, name: string): ReturnType<Page['getByRole']> => page.getByRole('link', { name, exact: true });
const button = (page: Page, name: string): ReturnType<Page['getByRole']> =>
  page.getByRole('button', { name, exact: true });
const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true }).waitFor();

async function confirm(page: Page, verb: string): Promise<void> {
  await button(page, verb).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Yes, ${verb}` })
    .click();
  await says(page, new RegExp(`^${verb} accepted\\.`));
}

type Axe = { readonly run: (options: object) => Promise<{ readonly violations: readonly Violation[] }> };
type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** What axe finds against it, by all of its rules or by those named. */
async function violations(page: Page, rules: readonly string[] | null): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async (only) => {
    // axe puts itself there.
    const { run } = (globalThis as unknown as { axe: Axe }).axe;
    return (await run(only === null ? {} : { runOnly: only })).violations;
  }, rules);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

describe('the fleet', () => {
  test('twelve VMs that fail for one reason are one line; it opens to each of them', async () => {
    const page = await open('/');
    const line = page.getByRole('group').filter({ hasText: `12 VMs of host ${VM_HOST}` });
    await line.getByText('LaunchFailed: no space left on device').click();
    await link(page, 'api-07').click();
    await heading(page, 'api-07');
  });

  test('counts lead to those they count, and the address says which', async () => {
    const page = await open('/?show=list');
    await page.getByRole('link', { name: /^BackingOff/ }).click();
    await says(page, 'Only BackingOff.');
    expect(new URL(page.url()).search).toBe('?show=list&state=BackingOff');
    const rows = page.getByRole('region', { name: 'Nodes and VMs' }).getByRole('row');
    expect(await rows.count()).toBe(2);
    await page.goBack();
    await page.getByText('Only BackingOff.').waitFor({ state: 'detached' });
  });

  test('with the keyboard alone: to a mark, from mark to mark, and into it', async () => {
    const page = await open('/');
    const marks = page.getByRole('application', { name: /nodes and VMs as marks/ });
    await heading(page, '9 nodes, 14 VMs');
    await marks.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await says(page, /^node i-00000000000000012: Idle\./);
    await page.keyboard.press('Enter');
    await heading(page, 'i-00000000000000012');
  });

  test('a name is found with the slash key', async () => {
    const page = await open('/events');
    await heading(page, 'Events');
    await page.keyboard.press('/');
    await page.keyboard.type('hostile');
    await page.keyboard.press('Enter');
    await link(page, 'hostile').last().waitFor();
    expect(new URL(page.url()).search).toBe('?show=list&find=hostile');
  });
});

describe('two clicks', () => {
  test('why is this node not updating', async () => {
    const page = await open('/');
    await link(page, CRASHED).click();
    await says(page, /PrepareFailed/);
    await says(page, /next attempt in \d+ s|next attempt in \d+ min/);
  });

  test('why is this VM not running', async () => {
    const page = await open('/');
    await page
      .getByRole('group')
      .filter({ hasText: `12 VMs of host ${VM_HOST}` })
      .getByText('no space left')
      .click();
    await link(page, 'api-01').click();
    await says(page, /no space left on device/);
  });

  test('what does a node wait for that is in no trouble', async () => {
    const page = await open('/groups/web');
    await link(page, 'i-0000000000000000d').click();
    await says(page, 'NoSlot');
  });
});

describe('verbs', () => {
  test('a node is held and released, and the page says so without being loaded anew', async () => {
    const page = await open(`/nodes/${QUIET}`);
    await confirm(page, 'hold');
    await says(page, /^Held$/);
    await confirm(page, 'release');
    await page.getByRole('main').getByText('Idle', { exact: true }).first().waitFor();
  });

  test('nothing is sent when one thinks better of it', async () => {
    const page = await open(`/nodes/${QUIET}`);
    await button(page, 'fence').click();
    await page.getByRole('dialog', { name: `fence ${QUIET}?` }).waitFor();
    await button(page, 'Cancel').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('a verb that would be refused is greyed out and says why', async () => {
    const page = await open('/vms/halted');
    await says(page, /start is refused now: VM halted has run strategy Halted/);
    expect(await button(page, 'start').getAttribute('aria-disabled')).toBe('true');
    await button(page, 'start').click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('a node under way cannot be moved, one that is not can', async () => {
    const page = await open(`/nodes/${QUEUED}`);
    await says(page, /move is refused now/);
    await page.goto(`${stage.server.origin}/nodes/${QUIET}`);
    await button(page, 'move').click();
    await page.getByLabel('To group').fill('canary');
    await button(page, 'Yes, move').click();
    await link(page, 'canary').waitFor();
  });

  test('a VM is stopped and started', async () => {
    const page = await open('/vms/api-12');
    await confirm(page, 'stop');
    await page.getByRole('main').getByText('Stopped', { exact: true }).first().waitFor();
    await confirm(page, 'start');
    await page.getByRole('main').getByText('Starting', { exact: true }).first().waitFor();
  });

  test('a group is paused: it needs attention until it is resumed', async () => {
    const page = await open('/groups/canary');
    await confirm(page, 'pause');
    await link(page, 'Fleet').click();
    await page.getByRole('listitem').filter({ hasText: 'Paused' }).getByRole('link', { name: 'canary' }).click();
    await confirm(page, 'resume');
  });
});

describe('the policy of a group', () => {
  test('is judged while it is typed, and put after what changes was shown', async () => {
    const page = await open('/groups/web');
    await button(page, 'Change the policy').click();
    const text = page.getByLabel(/^Policy of web/);
    const before = await text.inputValue();
    await text.fill(before.replace('"maxConcurrentUpdates": 1', '"maxConcurrentUpdates": 0'));
    await page.getByRole('listitem').filter({ hasText: 'maxConcurrentUpdates: ' }).first().waitFor();
    expect(await button(page, 'Put this policy').isDisabled()).toBe(true);
    await text.fill(before.replace('"12m"', '"14m"'));
    await page.getByLabel('What changes').getByText('"14m"').waitFor();
    await button(page, 'Put this policy').click();
    await says(page, /^The policy was put\./);
    await says(page, /"StagedUpdate": "14m"/);
  });

  test('the groups that come first are shown in their order', async () => {
    const page = await open('/groups/web');
    const chain = page.getByRole('list').filter({ hasText: 'canary' }).getByRole('listitem');
    await chain.filter({ hasText: 'canary' }).first().waitFor();
  });
});

describe('what cannot be trusted', () => {
  test('what a guest wrote is text, whatever it wrote', async () => {
    const page = await open('/vms/hostile');
    await says(page, MARKUP);
    expect(await page.locator('main img, main b:text("disk full")').count()).toBe(0);
    expect(await page.title()).toBe('hostile · Holdoff');
  });

  test('without the key of this run nothing is shown, and it is said where to find it', async () => {
    const page = await open('/', { storageState: { cookies: [], origins: [] } });
    await page.evaluate('localStorage.clear()');
    await page.goto(`${stage.server.origin}/nodes/${QUIET}`);
    await says(page, 'No key to this run.');
  });

  test('the key is taken out of the address', async () => {
    const page = await open('/groups');
    await heading(page, 'Groups');
    expect(page.url()).toBe(`${stage.server.origin}/groups`);
  });
});

describe('the connection', () => {
  test('a control plane that dies is said, and its return is found without a hand', async () => {
    const page = await open(`/nodes/${CRASHED}`);
    await heading(page, CRASHED);
    stage.laptop.kill();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await says(page, 'Connection lost');
    await heading(page, CRASHED);
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
  });
});

describe('for everybody', () => {
  const views = [
    '/',
    '/?show=list',
    `/nodes/${CRASHED}`,
    '/vms/hostile',
    '/vms/halted',
    '/groups',
    '/groups/web',
    '/events',
  ];

  test.each<[string, Parameters<Stage['open']>[1], readonly string[] | null]>([
    ['light, by all of its rules', { colorScheme: 'light' }, null],
    ['dark, by its rule on contrast', { colorScheme: 'dark' }, ['color-contrast']],
    ['on a phone, by its rule on targets', { viewport: { width: 360, height: 740 } }, ['target-size']],
  ])('axe finds nothing against any view: %s', async (_what, options, rules) => {
    const page = await open('/', options);
    for (const view of views) {
      await page.goto(stage.server.origin + view);
      await says(page, /Needs attention|Raw JSON|Under way|What was said/);
      expect([view, await violations(page, rules)]).toEqual([view, []]);
      const wide: unknown = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect([view, 'is wider than its window', wide]).toEqual([view, 'is wider than its window', false]);
    }
  });

  test('no script failed, the page kept to its policy, and nobody else was asked', () => {
    expect(complaints).toEqual([]);
    expect(strangers).toEqual([]);
  });
});
