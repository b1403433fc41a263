/**
 * What may be done with a thing now, and why not (DESIGN section 6, `can`). One table: the verbs refuse through it, the
 * JSON answers it, and whoever shows a button greys it out by it. A verb that is not refused may still change nothing.
 */
import * as z from 'zod/mini';
import type { RunStrategy } from './words.ts';

export const whySchema = z.object({ code: z.string(), detail: z.string() });
/** Why a verb is refused now: the code and the sentence of the 409 that it would get. */
export type Why = z.infer<typeof whySchema>;
/** Null: it is accepted now. */
const verdict = () => z.nullable(whySchema);

export const nodeCanSchema = z.object({
  retry: verdict(),
  hold: verdict(),
  release: verdict(),
  fence: verdict(),
  move: verdict(),
  delete: verdict(),
});
export const vmCanSchema = z.object({ start: verdict(), stop: verdict(), restart: verdict(), delete: verdict() });
export const groupCanSchema = z.object({
  pause: verdict(),
  resume: verdict(),
  closeBreaker: verdict(),
  openWindow: verdict(),
  closeWindow: verdict(),
  expedite: verdict(),
  delete: verdict(),
});

/** What the verbs of a node depend on. */
export type NodeState = { nodeId: string; group: string; underWay: boolean };
/** What the verbs of a VM depend on; `had`: the phase in which its last instance ended, null while one lives. */
export type VmState = {
  vmId: string;
  deleting: boolean;
  runStrategy: RunStrategy;
  on: boolean;
  had: string | null;
};
/** What the verbs of a group depend on. */
export type GroupState = {
  group: string;
  isDefault: boolean;
  declared: boolean;
  /** Until when and why it is frozen, in words; null: it is not. */
  frozen: string | null;
};

type Rule<S> = { code: string; when: (state: S) => boolean; detail: (state: S) => string };
type Table<S, V extends string> = Readonly<Record<V, readonly Rule<S>[]>>;

const terminating: Rule<VmState> = {
  code: 'VmTerminating',
  when: ({ deleting }) => deleting,
  detail: ({ vmId }) => `VM ${vmId} is being deleted and cannot be started; declare it again when it is gone`,
};
const halted = (verb: string): Rule<VmState> => ({
  code: 'VmHalted',
  when: ({ runStrategy }) => runStrategy === 'Halted',
  detail: ({ vmId }) =>
    `VM ${vmId} has run strategy Halted and cannot be ${verb}; change its runStrategy to Always, RerunOnFailure, Manual or Once first`,
});

/** The first rule that matches is why. */
const VM_VERBS: Table<VmState, keyof z.infer<typeof vmCanSchema>> = {
  start: [
    terminating,
    halted('started'),
    {
      code: 'VmRanOnce',
      when: ({ runStrategy, on, had }) => runStrategy === 'Once' && on && had !== null,
      detail: ({ vmId, had }) =>
        `VM ${vmId} has run strategy Once and has had its run (${String(had)}); stop it explicitly, then start it again, or change its runStrategy`,
    },
  ],
  stop: [],
  restart: [
    terminating,
    halted('restarted'),
    {
      code: 'VmRunsOnce',
      when: ({ runStrategy }) => runStrategy === 'Once',
      detail: ({ vmId }) =>
        `VM ${vmId} has run strategy Once and is not restarted; stop it, then start it, or change its runStrategy`,
    },
  ],
  delete: [],
};

const NODE_VERBS: Table<NodeState, keyof z.infer<typeof nodeCanSchema>> = {
  retry: [],
  hold: [],
  release: [],
  fence: [],
  move: [
    {
      code: 'NodeUnderWay',
      when: ({ underWay }) => underWay,
      detail: ({ nodeId, group }) => `node ${nodeId} is under way in group ${group}; move it when it is Idle again`,
    },
  ],
  delete: [],
};

const GROUP_VERBS: Table<GroupState, keyof z.infer<typeof groupCanSchema>> = {
  pause: [],
  resume: [],
  closeBreaker: [],
  openWindow: [
    {
      code: 'Frozen',
      when: ({ frozen }) => frozen !== null,
      detail: ({ group, frozen }) =>
        `group ${group} is frozen ${frozen ?? ''}; a window opens nothing then: put the policy without that freeze`,
    },
  ],
  closeWindow: [],
  expedite: [],
  delete: [
    {
      code: 'DefaultGroup',
      when: ({ isDefault }) => isDefault,
      detail: () => 'the group default exists from the start and cannot be deleted; put another policy instead',
    },
    {
      code: 'GroupNotFound',
      when: ({ declared }) => !declared,
      detail: ({ group }) => `there is no declared group ${group}`,
    },
  ],
};

function judge<S>(rules: readonly Rule<S>[], state: S): Why | null {
  const rule = rules.find(({ when }) => when(state));
  return rule === undefined ? null : { code: rule.code, detail: rule.detail(state) };
}

export const mayNode = (verb: keyof typeof NODE_VERBS, state: NodeState): Why | null => judge(NODE_VERBS[verb], state);
export const mayVm = (verb: keyof typeof VM_VERBS, state: VmState): Why | null => judge(VM_VERBS[verb], state);
export const mayGroup = (verb: keyof typeof GROUP_VERBS, state: GroupState): Why | null =>
  judge(GROUP_VERBS[verb], state);

export const canOfNode = (state: NodeState): z.infer<typeof nodeCanSchema> => ({
  retry: mayNode('retry', state),
  hold: mayNode('hold', state),
  release: mayNode('release', state),
  fence: mayNode('fence', state),
  move: mayNode('move', state),
  delete: mayNode('delete', state),
});

export const canOfVm = (state: VmState): z.infer<typeof vmCanSchema> => ({
  start: mayVm('start', state),
  stop: mayVm('stop', state),
  restart: mayVm('restart', state),
  delete: mayVm('delete', state),
});

export const canOfGroup = (state: GroupState): z.infer<typeof groupCanSchema> => ({
  pause: mayGroup('pause', state),
  resume: mayGroup('resume', state),
  closeBreaker: mayGroup('closeBreaker', state),
  openWindow: mayGroup('openWindow', state),
  closeWindow: mayGroup('closeWindow', state),
  expedite: mayGroup('expedite', state),
  delete: mayGroup('delete', state),
});
