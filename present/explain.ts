/** The story of one thing as a timeline: what happened, why it is as it is, what comes next and when. */
import type { EventEntry, GroupJson, NodeJson, VmJson } from '../core/contract/answers.ts';
import { parseInstant, type Instant } from '../core/kit/time.ts';
import { verbName } from './fields.ts';
import { groupTone, groupState } from './groups.ts';
import { groupHelp, groupNext, type Next, nodeHelp, nodeNext, vmHelp, vmNext } from './next.ts';
import { nodeTone } from './nodes.ts';
import { separated, table, type Surface } from './table.ts';
import { oneLine, wrap } from './text.ts';
import { paint, type Tone } from './tone.ts';
import { vmTone } from './vms.ts';
import { sayWhen } from './when.ts';

/** One of each kind, or what the API says of it. */
export type Explained =
  | { readonly kind: 'node'; readonly thing: NodeJson }
  | { readonly kind: 'vm'; readonly thing: VmJson }
  | { readonly kind: 'group'; readonly thing: GroupJson };

export type Moment = { readonly at: string; readonly what: string; readonly warns: boolean };
export type Refused = { readonly verb: string; readonly why: string };
export type Story = {
  readonly kind: Explained['kind'];
  readonly id: string;
  readonly state: string;
  readonly tone: Tone;
  readonly happened: readonly Moment[];
  readonly why: string;
  readonly next: readonly Next[];
  /** Commands that may help. */
  readonly help: readonly string[];
  /** Verbs that are refused now. */
  readonly refused: readonly Refused[];
};

/** From the thing and its log. Events of other things are left out; an event told twice is told once. */
export function storyOf(explained: Explained, events: readonly EventEntry[]): Story {
  const head = headOf(explained);
  const own = new Map(events.map((event) => [event.id, event]));
  const told = [...own.values()].map(({ at, type, severity, message }): Moment => ({
    at,
    what: `${type}: ${message}`,
    warns: severity === 'warning',
  }));
  const happened = [...told, ...momentsOf(explained)].sort((a, b) => order(a) - order(b) || (a.what < b.what ? -1 : 1));
  const next = nextOf(explained).toSorted((a, b) => order(a) - order(b));
  return { ...head, happened, why: explained.thing.explanation, next, refused: refusedOf(explained.thing.can) };
}

/** What has no instant comes last. */
const order = ({ at }: { at: string | null }): number => (at === null ? null : parseInstant(at)) ?? Infinity;

function headOf(explained: Explained): Pick<Story, 'kind' | 'id' | 'state' | 'tone' | 'help'> {
  const { kind, thing } = explained;
  switch (kind) {
    case 'node':
      return { kind, id: thing.nodeId, state: thing.phase, tone: nodeTone(thing), help: nodeHelp(thing) };
    case 'vm':
      return { kind, id: thing.vmId, state: thing.printableStatus, tone: vmTone(thing), help: vmHelp(thing) };
    case 'group':
      return { kind, id: thing.group, state: groupState(thing), tone: groupTone(thing), help: groupHelp(thing) };
  }
}

function nextOf({ kind, thing }: Explained): Next[] {
  if (kind === 'node') return nodeNext(thing);
  return kind === 'vm' ? vmNext(thing) : groupNext(thing);
}

/** What the item itself knows, beside its log: the log forgets after a while, and does not hold every report. */
function momentsOf({ kind, thing }: Explained): Moment[] {
  if (kind === 'node') return nodeMoments(thing);
  if (kind === 'vm') return vmMoments(thing);
  return [
    ...thing.breakers.map(({ version, openedAt, nodes }) => ({
      at: openedAt,
      what: `the breaker of ${version} opened: ${nodes.join(', ')} crashed on it`,
      warns: true,
    })),
    ...thing.settled.map(({ version, since }) => ({ at: since, what: `settled on ${version}`, warns: false })),
  ];
}

function nodeMoments({ crash, spec, status }: NodeJson): Moment[] {
  const version = spec.version === null ? '' : ` with ${spec.version}`;
  return [
    ...(crash.firstAt === null
      ? []
      : [{ at: crash.firstAt, what: `first of ${crash.count} crashes on its record`, warns: true }]),
    ...(crash.lastAt === null || crash.lastAt === crash.firstAt
      ? []
      : [{ at: crash.lastAt, what: `last crash: ${crashReason(crash)}`, warns: true }]),
    { at: spec.since, what: `asked for ${spec.state}${version}`, warns: false },
    ...(status === null
      ? []
      : [
          {
            at: status.reportedAt,
            what: `reported ${status.state}, running ${status.currentVersion}${status.progress === undefined ? '' : `: ${status.progress}`}`,
            warns: false,
          },
        ]),
  ];
}

function crashReason({ lastState, lastReason, lastMessage }: NodeJson['crash']): string {
  const where = lastState === null ? '' : `on the way to ${lastState}`;
  return [where, lastReason, lastMessage].filter((part) => part !== null && part !== '').join(', ');
}

function vmMoments({ instance, lastFailure }: VmJson): Moment[] {
  return [
    ...(lastFailure === null
      ? []
      : [
          {
            at: lastFailure.at,
            what: `its last failure: ${lastFailure.reason}${lastFailure.message === null ? '' : `, ${lastFailure.message}`}`,
            warns: true,
          },
        ]),
    ...(instance === null
      ? []
      : [{ at: instance.since, what: `instance ${instance.instanceId} is ${instance.phase}`, warns: false }]),
  ];
}

/** A control plane of an earlier release does not say what may be done. */
const refusedOf = (can: Explained['thing']['can'] | undefined): Refused[] =>
  Object.entries(can ?? {}).flatMap(([verb, why]) => (why === null ? [] : [{ verb: verbName(verb), why: why.detail }]));

const markOf = (warns: boolean): string => (warns ? '!' : '');

/** The story on a screen, with relative times. */
export function storyPage(story: Story, surface: Surface): string {
  const { kind, id, state, tone, happened, why, next, help, refused } = story;
  return [
    `${kind} ${id}: ${paint(oneLine(state), tone, surface)}`,
    ...section('What happened', happened.length === 0 ? [] : [momentTable(happened, surface)], surface),
    ...section('Why', wrap(oneLine(why), Math.max(30, surface.width - 2)), surface),
    ...section('What next', next.length === 0 ? ['nothing is planned'] : [nextTable(next, surface)], surface),
    ...section('What may help', help, surface),
    ...section(
      'Refused now',
      refused.map(({ verb, why: reason }) => `${verb}: ${oneLine(reason)}`),
      surface,
    ),
  ].join('\n');
}

function section(title: string, blocks: readonly string[], surface: Surface): string[] {
  if (blocks.length === 0) return [];
  return [
    '',
    paint(title, 'quiet', surface),
    ...blocks.flatMap((block) => block.split('\n')).map((line) => `  ${line}`),
  ];
}

const inner = (surface: Surface): Surface => ({ ...surface, width: surface.width - 2 });

const momentTable = (moments: readonly Moment[], surface: Surface): string =>
  table(
    [{ title: 'WHEN' }, { title: '' }, { title: 'WHAT' }],
    moments.map(({ at, what, warns }) => {
      const tone = warns ? ('warn' as const) : undefined;
      return [{ text: sayWhen(at, surface.now) }, { text: markOf(warns), tone }, { text: what, tone }];
    }),
    inner(surface),
  );

const nextTable = (next: readonly Next[], surface: Surface): string =>
  table(
    [{ title: 'WHEN' }, { title: 'WHAT' }],
    next.map(({ at, what }) => [{ text: sayNext(at, surface.now) }, { text: what }]),
    inner(surface),
  );

/** An instant that has passed is due: a timer is late, or its report is on its way. */
function sayNext(at: string | null, now: Instant): string {
  if (at === null) return '';
  const parsed = parseInstant(at);
  return parsed !== null && parsed <= now ? 'due' : sayWhen(at, now);
}

/** The rows of `storyRows`, for help texts. */
export const STORY_ROWS = `thing kind id state
  happened at mark what
  why explanation
  next at what
  help command
  refused verb why`;

/** Tab-separated rows, instants in RFC 3339. */
export const storyRows = ({ kind, id, state, happened, why, next, help, refused }: Story): string =>
  separated([
    ['thing', kind, id, state],
    ...happened.map((moment) => ['happened', moment.at, markOf(moment.warns), moment.what]),
    ['why', why],
    ...next.map(({ at, what }) => ['next', at ?? '', what]),
    ...help.map((command) => ['help', command]),
    ...refused.map((one) => ['refused', one.verb, one.why]),
  ]);
