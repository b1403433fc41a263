/** The console: a page that shows a fleet at a glance. A client of the API, with no privileges of its own. */
import { effect } from '@preact/signals';
import { render, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { FLEET } from './address.ts';
import { ConnectionLine } from './connection-line.tsx';
import { EventsPage } from './events-page.tsx';
import { Fleet } from './fleet.tsx';
import { GroupPage } from './group-page.tsx';
import { GroupsPage } from './groups-page.tsx';
import { goTo, Link, view } from './navigation.tsx';
import { NodePage } from './node-page.tsx';
import { takeToken } from './session.ts';
import { VmPage } from './vm-page.tsx';

function App(): JSX.Element {
  const { name } = view.value;
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <Link to={FLEET} class="brand">
          Holdoff
        </Link>
        <nav aria-label="Views">
          <Link to={FLEET} current={name === 'fleet'}>
            Fleet
          </Link>
          <Link to={{ name: 'groups' }} current={name === 'groups' || name === 'group'}>
            Groups
          </Link>
          <Link to={{ name: 'events' }} current={name === 'events'}>
            Events
          </Link>
        </nav>
        <Search />
      </header>
      <ConnectionLine />
      <div id="content" tabIndex={-1}>
        <Page />
      </div>
    </>
  );
}

function Page(): JSX.Element {
  const shown = view.value;
  switch (shown.name) {
    case 'fleet':
      return <Fleet />;
    case 'node':
      return <NodePage key={shown.id} id={shown.id} />;
    case 'vm':
      return <VmPage key={shown.id} id={shown.id} />;
    case 'group':
      return <GroupPage key={shown.id} id={shown.id} />;
    case 'groups':
      return <GroupsPage />;
    case 'events':
      return <EventsPage />;
    case 'unknown':
      return (
        <main>
          <h1>There is no such page</h1>
          <p>
            {shown.path} leads nowhere. <Link to={FLEET}>The fleet</Link> shows every node and VM.
          </p>
        </main>
      );
  }
}

/** Part of a name; `/` leads here from anywhere. */
function Search(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const typing = event.target instanceof Element && event.target.closest('input, textarea, dialog') !== null;
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const shown = view.value;
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const find = input.current?.value.trim() ?? '';
        const before = shown.name === 'fleet' ? shown : FLEET;
        goTo({ ...before, find, show: find === '' ? before.show : 'list' });
      }}
    >
      <input
        ref={input}
        type="search"
        aria-label="Find a node, VM or group"
        placeholder="Find  /"
        value={shown.name === 'fleet' ? shown.find : ''}
        autoComplete="off"
        spellcheck={false}
      />
    </form>
  );
}

const TITLES = { fleet: 'Fleet', groups: 'Groups', events: 'Events', unknown: 'No such page' } as const;
effect(() => {
  const shown = view.value;
  document.title = `${'id' in shown ? shown.id : TITLES[shown.name]} · Holdoff`;
});

takeToken();
const page = document.getElementById('page');
if (page !== null) render(<App />, page);
