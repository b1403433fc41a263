/** The list of what should run here: the one that was acted on last, and whether an answer asks for the next (DESIGN section 6). */
import type { HostVm } from '../../core/contract/agent-answers.ts';
import { type InstanceKey, keyOf } from './instance.ts';

/** What the answer to a report says of the list. @property items null: it is the one whose tag was sent */
export type Prompt = { readonly tag: string; readonly items: readonly HostVm[] | null };

/** What is to be done after a report: ask for the list, or go on with the one that there is. */
export type Next =
  /** The control plane has no tags: it is to be told of all that lives here, and asked, each time. */
  | { readonly kind: 'untagged' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'asBefore'; readonly items: readonly HostVm[] };

export class Listing {
  #items: readonly HostVm[] | null = null;
  #tag: string | null = null;
  #prompt: Prompt | null = null;

  /** Of the list that was acted on last; null: nobody knows. */
  get tag(): string | null {
    return this.#tag;
  }

  /** @param sent the tag that the report named which was answered so */
  answered(sent: string | null, prompt: Prompt | null): Next {
    this.#prompt = null;
    if (prompt === null) {
      this.#tag = null;
      return { kind: 'untagged' };
    }
    const acted = this.#items;
    if (prompt.items === null) {
      if (acted !== null && sent === prompt.tag && this.#tag === sent) return { kind: 'asBefore', items: acted };
    } else if (acted !== null && isSame(prompt.items, acted)) {
      this.#tag = prompt.tag;
      return { kind: 'asBefore', items: acted };
    }
    this.#prompt = prompt;
    return { kind: 'ask' };
  }

  /** A list has come, and is being acted on: it may be newer than the answer that asked for it, or older. */
  followed(items: readonly HostVm[]): void {
    const prompt = this.#prompt;
    this.#prompt = null;
    this.#items = items;
    if (prompt !== null) this.#tag = prompt.items !== null && isSame(prompt.items, items) ? prompt.tag : null;
  }

  /** What a list names, whether it is to run or to end. */
  static keys(items: readonly HostVm[]): ReadonlySet<InstanceKey> {
    return new Set(items.map((item) => keyOf(item)));
  }
}

/** A console that is asked for is sent once for each time that the list says so: such a list is like no other. */
function isSame(a: readonly HostVm[], b: readonly HostVm[]): boolean {
  if ([...a, ...b].some(({ consoleAsked }) => consoleAsked === true)) return false;
  return said(a) === said(b);
}

const said = (items: readonly HostVm[]): string =>
  items
    .map(({ vmId, uid, power, instanceId, launchRevision, graceSeconds, leaseSeconds }) =>
      JSON.stringify([vmId, uid, power, instanceId, launchRevision, graceSeconds ?? null, leaseSeconds ?? null]),
    )
    .sort()
    .join('\n');
