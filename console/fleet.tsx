/** The fleet at a glance: what needs attention and why, how many are in which state, and every node and VM as a mark. */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import { causesOf } from '../present/causes.ts';
import { FLEET, GROUPINGS, type FleetView } from './address.ts';
import { Causes } from './causes-list.tsx';
import { complete, groups, lookAtFleet, nodes, summary, vms } from './fleet-data.ts';
import { FleetList } from './fleet-list.tsx';
import { useLive } from './live.ts';
import { MarkShape } from './mark-shape.tsx';
import { countsOf, marksOf, matches, type Mark } from './marks.ts';
import { MarksCanvas } from './marks-canvas.tsx';
import { goTo, Link, view } from './navigation.tsx';

const marks = computed(() => marksOf(nodes.value, vms.value));
const causes = computed(() =>
  causesOf({ nodes: nodes.value.values(), vms: vms.value.values(), groups: groups.value.values() }, summary.value),
);
const asked = computed<FleetView>(() => (view.value.name === 'fleet' ? view.value : FLEET));
const shown = computed(() => marks.value.filter((mark) => matches(mark, asked.value)));

export function Fleet(): JSX.Element {
  useLive('fleet', lookAtFleet, () => undefined);
  const { by, show } = asked.value;
  return (
    <main>
      <h1 class="unseen">Fleet</h1>
      <Causes causes={causes.value} complete={complete.value} empty={marks.value.length === 0} />
      <section aria-labelledby="everything">
        <div class="bar">
          <h2 id="everything">{sayShown(marks.value, shown.value)}</h2>
          <Choice
            label="Grouped by"
            options={GROUPINGS}
            chosen={by}
            choose={(one) => goTo({ ...asked.value, by: one }, 'replace')}
          />
          <Choice
            label="Shown as"
            options={['marks', 'list'] as const}
            chosen={show}
            choose={(one) => goTo({ ...asked.value, show: one }, 'replace')}
          />
        </div>
        <Counts marks={marks.value} />
        <Filter />
        {show === 'marks' ? <MarksCanvas marks={shown.value} by={by} /> : <FleetList marks={shown.value} by={by} />}
      </section>
    </main>
  );
}

function sayShown(all: readonly Mark[], some: readonly Mark[]): string {
  if (all.length === 0) return complete.value ? 'No nodes yet' : 'Looking …';
  const nodeCount = all.filter(({ kind }) => kind === 'node').length;
  const of = `${said(nodeCount, 'node')}, ${said(all.length - nodeCount, 'VM')}`;
  if (!complete.value) return `${of} so far …`;
  return some.length === all.length ? of : `${some.length.toLocaleString('en')} of ${of}`;
}
const said = (count: number, name: string): string => `${count.toLocaleString('en')} ${name}${count === 1 ? '' : 's'}`;

type ChoiceProps<T extends string> = {
  readonly label: string;
  readonly options: readonly T[];
  readonly chosen: T;
  readonly choose: (one: T) => void;
};

function Choice<T extends string>({ label, options, chosen, choose }: ChoiceProps<T>): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map((one) => (
        <button key={one} type="button" aria-pressed={one === chosen} onClick={() => choose(one)}>
          {one}
        </button>
      ))}
    </div>
  );
}

/** How many are in each state, and how many run each version; each leads to those. */
function Counts({ marks: all }: { readonly marks: readonly Mark[] }): JSX.Element {
  const kinds = [
    { name: 'Nodes', marks: all.filter(({ kind }) => kind === 'node') },
    { name: 'VMs', marks: all.filter(({ kind }) => kind === 'vm') },
  ].filter((kind) => kind.marks.length > 0);
  const versions = new Map<string, number>();
  for (const { version } of all) if (version !== null) versions.set(version, (versions.get(version) ?? 0) + 1);
  return (
    <dl class="counts">
      {kinds.map(({ name, marks: some }) => (
        <div key={name}>
          <dt>{name}</dt>
          {countsOf(some).map(({ state, tone, count }) => (
            <dd key={state}>
              <Toggle name="state" value={state}>
                <MarkShape tone={tone} />
                {state} <b>{count.toLocaleString('en')}</b>
              </Toggle>
            </dd>
          ))}
        </div>
      ))}
      {versions.size === 0 ? null : (
        <div>
          <dt>Versions</dt>
          {[...versions]
            .sort(([, a], [, b]) => b - a)
            .slice(0, 12)
            .map(([version, count]) => (
              <dd key={version}>
                <Toggle name="version" value={version}>
                  {version} <b>{count.toLocaleString('en')}</b>
                </Toggle>
              </dd>
            ))}
        </div>
      )}
    </dl>
  );
}

type ToggleProps = {
  readonly name: 'state' | 'version';
  readonly value: string;
  readonly children: JSX.Element | readonly (JSX.Element | string)[];
};

/** Shows only those; a second time shows all again. */
function Toggle({ name, value, children }: ToggleProps): JSX.Element {
  const on = asked.value[name] === value;
  return (
    <Link to={{ ...asked.value, [name]: on ? '' : value }} class="toggle" current={on}>
      {children}
    </Link>
  );
}

function Filter(): JSX.Element | null {
  const { state, version, find } = asked.value;
  const parts = [state, version, find === '' ? '' : `“${find}”`].filter((part) => part !== '');
  if (parts.length === 0) return null;
  return (
    <p class="filter">
      Only {parts.join(', ')}. <Link to={{ ...asked.value, state: '', version: '', find: '' }}>Show all</Link>
    </p>
  );
}
