/** Why a VM runs or does not, what happened, and what may be done. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ConsoleAnswer, EventEntry, VmJson } from '../core/contract/answers.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { counted, harmlessLines } from '../present/text.ts';
import { vmFields, vmTone } from '../present/vms.ts';
import { laterOf, relativeWhen } from '../present/when.ts';
import { EventsTable } from './events-table.tsx';
import { now, useLive, wallNow } from './live.ts';
import { Moment } from './moment.tsx';
import { Link } from './navigation.tsx';
import { vmMoves } from './pace.ts';
import { api, bodyOf, Refused } from './session.ts';
import { Fields, Head, Nothing, Raw, Section, useThing } from './thing.tsx';
import { TimelineView } from './timeline-view.tsx';
import { Verbs, type Verb } from './verbs.tsx';

type VmSeen = { readonly vm: VmJson; readonly events: readonly EventEntry[] };

async function look(vmId: string): Promise<{ data: VmSeen; moving: boolean }> {
  const params = { vmId };
  const [vm, events] = await Promise.all([
    api.call(ROUTES.getVm, { params }),
    api.call(ROUTES.listVmEvents, { params }),
  ]);
  const data = { vm: bodyOf(vm), events: bodyOf(events).items };
  return { data, moving: vmMoves(data.vm, wallNow()) };
}

export function VmPage({ id }: { readonly id: string }): JSX.Element {
  const { data, refused } = useThing<VmSeen>(`vm ${id}`, () => look(id)).value;
  if (data === null) return <Nothing refused={refused} name={id} />;
  const { vm, events } = data;
  const isBackingOff = vm.printableStatus === 'CrashLoopBackOff';
  const next = laterOf(vm.startFailure?.retryAfter ?? null, vm.unstableRuns?.retryAfter ?? null);
  return (
    <main>
      <Head name={id} kind="VM" tone={vmTone(vm)} state={vm.printableStatus} explanation={vm.explanation}>
        <p class="facts">
          <span>
            Host <Link to={{ name: 'node', id: vm.hostId }}>{vm.hostId}</Link>
          </span>
          <span>
            {vm.runStrategy}, power {vm.power.on ? 'on' : 'off'}
          </span>
          {vm.failuresInARow === 0 ? null : (
            <span class="tone-bad">{counted(vm.failuresInARow, 'failure')} in a row</span>
          )}
          {isBackingOff && next !== null ? (
            <span>
              Next start <Moment at={next} />
            </span>
          ) : null}
          {vm.instance === null ? null : (
            <span>
              {vm.instance.phase} since <Moment at={vm.instance.since} />
            </span>
          )}
        </p>
      </Head>
      <Verbs verbs={verbsOf(vm)} subject={id} />
      <TimelineView events={events} next={isBackingOff ? next : null} />
      <Section title="Console">
        <LastConsole vm={vm} />
        <LiveConsole vmId={id} />
      </Section>
      <Section title="Events">
        <EventsTable events={events} />
      </Section>
      <Section title="Everything known">
        <Fields fields={vmFields(vm, relativeWhen(now.value)).filter(({ label }) => label !== 'Explanation')} />
        <Raw value={vm} />
      </Section>
    </main>
  );
}

function LastConsole({ vm: { lastFailure } }: { readonly vm: VmJson }): JSX.Element {
  if (lastFailure?.console == null || lastFailure.console.trim() === '')
    return <p class="calm">No console was kept: its last failure, if there was one, left none.</p>;
  return (
    <>
      <p>
        The last that the guest wrote before it ended with {lastFailure.reason}, <Moment at={lastFailure.at} />:
      </p>
      <Lines text={lastFailure.console} />
    </>
  );
}

/** What a guest wrote is text, whatever it wrote. */
const Lines = ({ text }: { readonly text: string }): JSX.Element => (
  <pre class="console" tabIndex={0}>
    {harmlessLines(text).join('\n')}
  </pre>
);

/** Asks the host, then looks until the answer has come. */
function LiveConsole({ vmId }: { readonly vmId: string }): JSX.Element {
  const [asked, setAsked] = useState<ConsoleAnswer | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const ask = async (): Promise<void> => {
    try {
      setAsked(bodyOf(await api.call(ROUTES.askConsole, { params: { vmId }, body: {} })));
      setRefusal(null);
    } catch (error) {
      setRefusal(error instanceof Refused ? error.message : String(error));
    }
  };
  return (
    <>
      <button type="button" onClick={() => void ask()}>
        Ask the host for the console
      </button>
      {refusal === null ? null : <p class="refusal">{refusal}</p>}
      {asked === null ? null : <Awaited key={asked.askedAt} vmId={vmId} asked={asked} />}
    </>
  );
}

function Awaited({ vmId, asked }: { readonly vmId: string; readonly asked: ConsoleAnswer }): JSX.Element {
  const [come, setCome] = useState<ConsoleAnswer>(asked);
  useLive(
    `console ${vmId} ${asked.askedAt}`,
    async () => {
      const answer = bodyOf(await api.call(ROUTES.getConsole, { params: { vmId } }));
      setCome(answer);
      return { moving: answer.receivedAt === null, pages: 1 };
    },
    () => undefined,
  );
  if (come.receivedAt === null) return <p class="calm">Asked its host; it sends what it has when it next asks.</p>;
  return (
    <>
      <p>
        Received <Moment at={come.receivedAt} />:
      </p>
      <Lines text={come.console ?? ''} />
    </>
  );
}

function verbsOf({ vmId, can }: VmJson): Verb[] {
  const params = { vmId };
  const told = async (answer: Promise<Parameters<typeof bodyOf<VmJson>>[0]>): Promise<string> =>
    bodyOf(await answer).explanation;
  const plain = { asks: null, isGrave: false } as const;
  return [
    {
      ...plain,
      name: 'start',
      says: 'Starts it now, in back-off too.',
      why: can.start,
      send: () => told(api.call(ROUTES.startVm, { params, body: {} })),
    },
    {
      ...plain,
      name: 'stop',
      says: 'Stops it, with the time its guest has to end by itself, and keeps it off until somebody starts it.',
      why: can.stop,
      send: () => told(api.call(ROUTES.stopVm, { params, body: {} })),
    },
    {
      ...plain,
      name: 'restart',
      says: 'Ends its instance and starts another.',
      why: can.restart,
      send: () => told(api.call(ROUTES.restartVm, { params, body: {} })),
    },
    {
      name: 'delete',
      says: 'Stops it and forgets it. It is gone once its instance has ended.',
      why: can.delete,
      asks: null,
      isGrave: true,
      send: () => told(api.call(ROUTES.deleteVm, { params })),
    },
  ];
}
