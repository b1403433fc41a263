/** Why a node is where it is, what happened, and what may be done. */
import type { JSX } from 'preact';
import type { EventEntry, NodeJson, VmJson } from '../core/contract/answers.ts';
import { LIMIT_MAX } from '../core/contract/query.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { nodeFields, nodeTone } from '../present/nodes.ts';
import { counted } from '../present/text.ts';
import { vmTone } from '../present/vms.ts';
import { relativeWhen } from '../present/when.ts';
import { EventsTable } from './events-table.tsx';
import { now, wallNow } from './live.ts';
import { State } from './mark-shape.tsx';
import { Moment } from './moment.tsx';
import { Link } from './navigation.tsx';
import { nodeMoves, vmMoves } from './pace.ts';
import { api, bodyOf } from './session.ts';
import { Fields, Head, Nothing, Raw, Section, useThing } from './thing.tsx';
import { TimelineView } from './timeline-view.tsx';
import { Verbs, type Verb } from './verbs.tsx';

type NodeSeen = {
  readonly node: NodeJson;
  readonly events: readonly EventEntry[];
  readonly vms: readonly VmJson[];
};

async function look(nodeId: string): Promise<{ data: NodeSeen; moving: boolean }> {
  const params = { nodeId };
  const [node, events, vms] = await Promise.all([
    api.call(ROUTES.getNode, { params }),
    api.call(ROUTES.listNodeEvents, { params }),
    api.call(ROUTES.listVms, { query: { host: nodeId, limit: String(LIMIT_MAX) } }),
  ]);
  const data = { node: bodyOf(node), events: bodyOf(events).items, vms: bodyOf(vms).items };
  const at = wallNow();
  return { data, moving: nodeMoves(data.node, at) || data.vms.some((vm) => vmMoves(vm, at)) };
}

export function NodePage({ id }: { readonly id: string }): JSX.Element {
  const { data, refused } = useThing<NodeSeen>(`node ${id}`, () => look(id)).value;
  if (data === null) return <Nothing refused={refused} name={id} />;
  const { node, events, vms } = data;
  const until = node.waitingFor?.until ?? (node.phase === 'BackingOff' ? node.crash.retryAfter : null);
  return (
    <main>
      <Head name={id} kind="Node" tone={nodeTone(node)} state={node.phase} explanation={node.explanation}>
        <p class="facts">
          <span>
            Group <Link to={{ name: 'group', id: node.group }}>{node.group}</Link>
          </span>
          <span>Runs {node.status?.currentVersion ?? 'what it has not said yet'}</span>
          {node.waitingFor === null ? null : (
            <span>
              Waits for <b>{node.waitingFor.code}</b>
              {until === null ? null : (
                <>
                  ; ends <Moment at={until} />
                </>
              )}
            </span>
          )}
          {node.crash.count === 0 ? null : (
            <span class="tone-bad">{counted(node.crash.count, 'crash', 'crashes')} on record</span>
          )}
          {node.status === null ? null : (
            <span>
              Reported <Moment at={node.status.reportedAt} />
            </span>
          )}
        </p>
      </Head>
      <Verbs verbs={verbsOf(node)} subject={id} />
      <TimelineView events={events} next={until} />
      {vms.length === 0 ? null : <VmsHere vms={vms} />}
      <Section title="Events">
        <EventsTable events={events} />
      </Section>
      <Section title="Everything known">
        <Fields fields={nodeFields(node, relativeWhen(now.value)).filter(({ label }) => label !== 'Explanation')} />
        <Raw value={node} />
      </Section>
    </main>
  );
}

function VmsHere({ vms }: { readonly vms: readonly VmJson[] }): JSX.Element {
  return (
    <Section title="VMs on this host">
      <ul class="plain">
        {vms.map((vm) => (
          <li key={vm.vmId}>
            <State tone={vmTone(vm)} text={vm.printableStatus} />{' '}
            <Link to={{ name: 'vm', id: vm.vmId }}>{vm.vmId}</Link> <span class="faint">{vm.explanation}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function verbsOf({ nodeId, can, group }: NodeJson): Verb[] {
  const params = { nodeId };
  const told = async (answer: Promise<Parameters<typeof bodyOf<NodeJson>>[0]>): Promise<string> =>
    bodyOf(await answer).explanation;
  return [
    {
      name: 'retry',
      says: 'Ends the waits of its crash record: it is tried again as soon as nothing else forbids it. The count stays.',
      why: can.retry,
      asks: null,
      isGrave: false,
      send: () => told(api.call(ROUTES.retryNode, { params, body: {} })),
    },
    {
      name: 'hold',
      says: 'Nothing new starts on this node, nothing staged is activated, and it goes on to no disruptive step until it is released.',
      why: can.hold,
      asks: null,
      isGrave: false,
      send: () => told(api.call(ROUTES.holdNode, { params, body: {} })),
    },
    {
      name: 'release',
      says: 'Ends a hold.',
      why: can.release,
      asks: null,
      isGrave: false,
      send: () => told(api.call(ROUTES.releaseNode, { params, body: {} })),
    },
    {
      name: 'move',
      says: 'Gives it the policy of another group from its next attempt on.',
      why: can.move,
      asks: { label: 'To group', value: group, hint: 'a group that does not exist yet has the policy of default' },
      isGrave: false,
      send: (to) => told(api.call(ROUTES.moveNode, { params, body: { group: to } })),
    },
    {
      name: 'fence',
      says: 'States that this host is off. Its instances are taken to have ended, and may be started elsewhere: if it is not off, a VM may run twice.',
      why: can.fence,
      asks: null,
      isGrave: true,
      send: () => told(api.call(ROUTES.fenceNode, { params, body: {} })),
    },
    {
      name: 'delete',
      says: 'Forgets this node. If its agent reports again, it enrols anew.',
      why: can.delete,
      asks: null,
      isGrave: true,
      send: () => told(api.call(ROUTES.deleteNode, { params })),
    },
  ];
}
