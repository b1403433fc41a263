/** The rollout of a group: how far each version is, who waits for what, what stands in the way, and the policy. */
import type { JSX } from 'preact';
import type { GroupJson, NodeJson } from '../core/contract/answers.ts';
import { LIMIT_MAX } from '../core/contract/query.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { groupFields, groupState, groupTone } from '../present/groups.ts';
import { relativeWhen } from '../present/when.ts';
import { allGroups } from './groups-page.tsx';
import { now, wallNow } from './live.ts';
import { MarksCanvas } from './marks-canvas.tsx';
import { marksOf } from './marks.ts';
import { Moment, Sentence } from './moment.tsx';
import { Link } from './navigation.tsx';
import { nodeMoves } from './pace.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { chainOf, sayProgress, versionsOf, waitingOf, type Target, type Waiting } from './rollout.ts';
import { api, bodyOf } from './session.ts';
import { Fields, Head, Nothing, Raw, Section, useThing } from './thing.tsx';
import { Verbs, type Verb } from './verbs.tsx';

type GroupSeen = {
  readonly group: GroupJson;
  readonly members: readonly NodeJson[];
  readonly all: ReadonlyMap<string, GroupJson>;
};

/** So many members are looked at; of more the counts of the sweep say how far they are. */
const MEMBERS_MAX = 1000;
const IDS_SHOWN = 40;

async function membersOf(group: string): Promise<NodeJson[]> {
  const found: NodeJson[] = [];
  let cursor: string | undefined;
  do {
    const query = { group, limit: String(LIMIT_MAX), ...(cursor === undefined ? {} : { cursor }) };
    const page: { items: NodeJson[]; cursor?: string } = bodyOf(await api.call(ROUTES.listNodes, { query }));
    found.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined && found.length < MEMBERS_MAX);
  return found;
}

async function look(name: string): Promise<{ data: GroupSeen; moving: boolean }> {
  const [answer, members, groups] = await Promise.all([
    api.call(ROUTES.getGroup, { params: { group: name } }),
    membersOf(name),
    allGroups(),
  ]);
  const group = bodyOf(answer);
  const data = { group, members, all: new Map(groups.map((one) => [one.group, one])) };
  const at = wallNow();
  return { data, moving: group.underWay.length > 0 || members.some((node) => nodeMoves(node, at)) };
}

export function GroupPage({ id }: { readonly id: string }): JSX.Element {
  const { data, refused } = useThing<GroupSeen>(`group ${id}`, () => look(id)).value;
  if (data === null) return <Nothing refused={refused} name={id} />;
  const { group, members, all } = data;
  const marks = marksOf(new Map(members.map((node) => [node.nodeId, node])), new Map());
  return (
    <main>
      <Head name={id} kind="Group" tone={groupTone(group)} state={groupState(group)} explanation={group.explanation}>
        <p class="facts">
          <span>{group.memberCount ?? members.length} nodes</span>
          <span>
            {group.underWay.length} under way of {group.limit ?? 'unlimited'}
          </span>
          <WindowFact group={group} />
        </p>
      </Head>
      <Verbs verbs={verbsOf(group)} subject={id} />
      <Section title="Rollout">
        <Rollout group={group} members={members} />
        <Chain chain={chainOf(group, all)} group={group} all={all} />
      </Section>
      <Section title="Who waits for what">
        <WhoWaits waiting={waitingOf(members)} underWay={group.underWay} />
      </Section>
      {marks.length === 0 ? null : (
        <Section title="Members">
          <MarksCanvas marks={marks} by="zone" />
        </Section>
      )}
      <Section title="Policy">
        {group.declared ? null : (
          <p class="calm">Not declared: this is the policy of default. Putting one declares it.</p>
        )}
        <PolicyEditor group={group} />
      </Section>
      <Section title="Everything known">
        <Fields fields={groupFields(group, relativeWhen(now.value)).filter(({ label }) => label !== 'Explanation')} />
        <Raw value={group} />
      </Section>
    </main>
  );
}

function WindowFact({ group: { window, policy } }: { readonly group: GroupJson }): JSX.Element | null {
  if (window.frozen !== undefined)
    return (
      <span class="tone-warn">
        Frozen; ends <Moment at={window.frozen.to} />
      </span>
    );
  if (!window.open)
    return (
      <span>
        Window closed
        {window.opensAt === undefined ? null : (
          <>
            , opens <Moment at={window.opensAt} />
          </>
        )}
      </span>
    );
  if (window.closesAt === undefined) return policy.windows === undefined ? null : <span>Window open</span>;
  return (
    <span>
      Window open, closes <Moment at={window.closesAt} />
    </span>
  );
}

function Rollout({ group, members }: Pick<GroupSeen, 'group' | 'members'>): JSX.Element {
  const targets = Object.entries(group.rollout?.target ?? {});
  return (
    <>
      {targets.length === 0 ? <p class="calm">No version is on its way, or the sweep has not counted yet.</p> : null}
      {targets.map(([version, target]) => (
        <div key={version} class="target">
          <p>
            <b>{version}</b> {sayProgress(target)}
          </p>
          <Bar target={target} />
        </div>
      ))}
      {group.breakers.map(({ version, openedAt, nodes }) => (
        <p key={version} class="tone-bad">
          Breaker open for {version} since <Moment at={openedAt} />: {nodes.join(', ')} crashed on it.
        </p>
      ))}
      {group.expedited.map(({ version, by, until }) => (
        <p key={version} class="tone-warn">
          {version} is expedited by {by}; ends <Moment at={until} />.
        </p>
      ))}
      <p class="facts">
        {versionsOf(members).map(({ version, count }) => (
          <span key={version}>
            {version} on {count}
          </span>
        ))}
        {group.zone === undefined ? null : <span>Zone {group.zone} is updated now</span>}
      </p>
    </>
  );
}

function Bar({ target }: { readonly target: Target }): JSX.Element {
  const parts = (['done', 'underWay', 'waiting', 'failed'] as const).filter((part) => target[part] > 0);
  return (
    <div class="progress" aria-hidden="true">
      {parts.map((part) => (
        <span key={part} class={`part-${part}`} style={{ flexGrow: String(target[part]) }} />
      ))}
    </div>
  );
}

type ChainProps = { readonly chain: readonly string[] } & Pick<GroupSeen, 'group' | 'all'>;

/** Which groups come first, and on what each has settled. */
function Chain({ chain, group, all }: ChainProps): JSX.Element | null {
  if (chain.length < 2) return null;
  return (
    <>
      <p>
        Promotion: each waits until the one before has settled
        {group.policy.after === undefined ? '' : ` for ${group.policy.after.soak}`}.
      </p>
      <ol class="chain">
        {chain.map((name) => (
          <li key={name}>
            {name === group.group ? <b>{name}</b> : <Link to={{ name: 'group', id: name }}>{name}</Link>}{' '}
            <span class="faint">
              {(all.get(name)?.settled ?? []).map(({ version }) => `settled on ${version}`).join(', ') || 'not settled'}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

type WhoWaitsProps = { readonly waiting: readonly Waiting[]; readonly underWay: readonly string[] };

function WhoWaits({ waiting, underWay }: WhoWaitsProps): JSX.Element {
  if (waiting.length === 0 && underWay.length === 0) return <p class="calm">Nobody waits, and nobody is under way.</p>;
  return (
    <ul class="plain">
      {underWay.length === 0 ? null : (
        <li>
          <b>Under way</b> <Ids ids={underWay} />
        </li>
      )}
      {waiting.map(({ code, ids, example }) => (
        <li key={code}>
          <b>{code}</b> <Ids ids={ids} />
          <div class="faint">
            <Sentence text={example} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function Ids({ ids }: { readonly ids: readonly string[] }): JSX.Element {
  return (
    <>
      {ids.slice(0, IDS_SHOWN).map((id) => (
        <span key={id} class="one">
          <Link to={{ name: 'node', id }}>{id}</Link>{' '}
        </span>
      ))}
      {ids.length > IDS_SHOWN ? `and ${ids.length - IDS_SHOWN} more` : ''}
    </>
  );
}

function verbsOf({ group, can, breakers, rollout }: GroupJson): Verb[] {
  const params = { group };
  const told = async (answer: Promise<Parameters<typeof bodyOf<GroupJson>>[0]>): Promise<string> =>
    bodyOf(await answer).explanation;
  const plain = { asks: null, isGrave: false } as const;
  const version = Object.keys(rollout?.target ?? {})[0] ?? '';
  return [
    {
      ...plain,
      name: 'pause',
      says: 'Nothing new starts in this group, and no node goes on to its disruptive step, until it is resumed.',
      why: can.pause,
      send: () => told(api.call(ROUTES.pauseGroup, { params, body: {} })),
    },
    {
      ...plain,
      name: 'resume',
      says: 'Ends a pause.',
      why: can.resume,
      send: () => told(api.call(ROUTES.resumeGroup, { params, body: {} })),
    },
    {
      ...plain,
      name: 'open window',
      says: 'Lets the group begin now, whatever its windows say.',
      why: can.openWindow,
      asks: { label: 'For how long', value: '1h', hint: '10m to 7d' },
      send: (length) => told(api.call(ROUTES.openWindow, { params, body: { for: length } })),
    },
    {
      ...plain,
      name: 'close window',
      says: 'Ends early a window that somebody opened.',
      why: can.closeWindow,
      send: () => told(api.call(ROUTES.closeWindow, { params, body: {} })),
    },
    ...(breakers.length === 0
      ? []
      : [
          {
            ...plain,
            name: 'close breaker',
            says: `Forgets the crashes that stopped ${breakers.map((one) => one.version).join(', ')}: it is tried again.`,
            why: can.closeBreaker,
            send: () => told(api.call(ROUTES.closeBreaker, { params, body: {} })),
          },
        ]),
    {
      ...plain,
      name: 'expedite',
      says: 'Lets one version past its age and the groups that come first, for 24 h.',
      why: can.expedite,
      asks: { label: 'Version', value: version, hint: 'as nodes are offered it' },
      send: (wanted) => told(api.call(ROUTES.expedite, { params, body: { version: wanted, for: '24h' } })),
    },
    {
      name: 'delete',
      says: "Drops this group's policy: that of default holds then.",
      why: can.delete,
      asks: null,
      isGrave: true,
      send: () => told(api.call(ROUTES.deleteGroup, { params })),
    },
  ];
}
