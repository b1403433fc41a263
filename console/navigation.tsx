/** Goes from view to view without loading the page anew; the address bar, back and forward work as everywhere. */
import { computed, signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { addressOf, viewOf, type View } from './address.ts';

const path = signal(location.pathname + location.search);
addEventListener('popstate', () => {
  path.value = location.pathname + location.search;
});

export const view = computed<View>(() => viewOf(path.value));

/** @param how `replace`: the step back does not lead here */
export function goTo(to: View, how: 'push' | 'replace' = 'push'): void {
  const address = addressOf(to);
  if (how === 'push') history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  const before = view.value.name;
  path.value = address;
  if (to.name !== before) scrollTo(0, 0);
}

type LinkProps = {
  readonly to: View;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly current?: boolean;
};

/** A real link: opened in another tab, copied, and followed with the keyboard. */
export function Link({ to, children, class: className, current }: LinkProps): JSX.Element {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(to);
  };
  return (
    <a
      href={addressOf(to)}
      class={className}
      onClick={follow}
      {...(current === true ? { 'aria-current': 'page' } : {})}
    >
      {children}
    </a>
  );
}
