/** What a group's body may say of its rollouts, and what it means with its defaults filled in (DESIGN section 2b). */
import * as z from 'zod/mini';
import { groupId, nodeId, positiveDuration, shortText, text } from '../kit/schema.ts';
import { type GroupId, type NodeId, parseGroupId, parseNodeId } from '../kit/ids.ts';
import { days, type Duration, milliseconds, parseDuration } from '../kit/time.ts';
import { type Concurrency, concurrencyOf, percentText } from './limit.ts';
import { type Freeze, freezesOf, freezesSchema, type Window, windowsOf, windowsSchema } from './windows.ts';

export const BREAKER_FAILURES_MAX = 100;
export const BREAKER_WITHIN_LONGEST = days(7);
export const SKIP_MAX = 50;
export const ORDER_MAX = 500;
export const ALARMS_MAX = 10;
/** The longest name that CloudWatch gives an alarm. */
const ALARM_NAME_MAX = 255;

const alarmName = () => text(1, ALARM_NAME_MAX);

const within = () =>
  positiveDuration().check(
    z.refine((given) => (parseDuration(given) ?? Infinity) <= BREAKER_WITHIN_LONGEST, 'must be at most 7d'),
  );

const distinct = (what: string) =>
  z.refine<string[]>((given) => new Set(given).size === given.length, `must name each ${what} once`);

export const breakerSchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({
    failures: z.int().check(z.gte(1), z.lte(BREAKER_FAILURES_MAX)),
    within: within(),
  }),
);

export const versionPolicySchema = /* @__PURE__ */ z.lazy(() =>
  z
    .strictObject({
      pin: z.optional(shortText()),
      skip: z.optional(z.array(shortText()).check(z.maxLength(SKIP_MAX), distinct('version'))),
      minVersionAge: z.optional(positiveDuration()),
      allowDowngrade: z.optional(z.boolean()),
    })
    .check(
      z.refine(({ pin, skip }) => pin === undefined || !(skip ?? []).includes(pin), {
        path: ['skip'],
        message: 'must not name the version that is pinned: nothing could ever be taken',
      }),
    ),
);

export const orderSchema = /* @__PURE__ */ z.lazy(() =>
  z
    .strictObject({
      first: z.optional(z.array(nodeId()).check(z.maxLength(ORDER_MAX), distinct('node'))),
      last: z.optional(z.array(nodeId()).check(z.maxLength(ORDER_MAX), distinct('node'))),
    })
    .check(
      z.refine(({ first, last }) => !(last ?? []).some((id) => (first ?? []).includes(id)), {
        path: ['last'],
        message: 'must not name a node that is also among the first',
      }),
    ),
);

/** The fields of a group's body that are about rollouts. */
export const rolloutFields = () => ({
  windows: z.optional(windowsSchema),
  freezes: z.optional(freezesSchema),
  breaker: z.optional(breakerSchema),
  version: z.optional(versionPolicySchema),
  after: z.optional(z.strictObject({ group: groupId(), soak: positiveDuration() })),
  order: z.optional(orderSchema),
  maxUnavailable: z.optional(
    z.union([z.int().check(z.gte(1)), percentText('must be a number from 1 or a percentage from 1% to 100%')]),
  ),
  spread: z.optional(z.literal('zone')),
  haltOnAlarm: z.optional(z.array(alarmName()).check(z.maxLength(ALARMS_MAX), distinct('alarm'))),
});

/** Their names, without the schemas: whoever only looks at a stored policy builds none. */
const ROLLOUT_FIELDS: Readonly<Record<keyof RolloutBody, true>> = {
  windows: true,
  freezes: true,
  breaker: true,
  version: true,
  after: true,
  order: true,
  maxUnavailable: true,
  spread: true,
  haltOnAlarm: true,
};

/** Whether a body says anything of rollouts. */
export const hasRollout = (body: RolloutBody): boolean =>
  (Object.keys(ROLLOUT_FIELDS) as (keyof RolloutBody)[]).some((field) => body[field] !== undefined);

const rolloutSchema = /* @__PURE__ */ z.lazy(() => z.strictObject(rolloutFields()));
export type RolloutBody = z.infer<typeof rolloutSchema>;

export type Breaker = { failures: number; within: Duration };
export type VersionPolicy = {
  pin: string | null;
  skip: readonly string[];
  minVersionAge: Duration;
  allowDowngrade: boolean;
};
/** A version is a target only once the other group has settled on it for `soak`. */
export type After = { group: GroupId; soak: Duration };

export type RolloutPolicy = {
  windows: readonly Window[];
  freezes: readonly Freeze[];
  breaker: Breaker | null;
  version: VersionPolicy;
  after: After | null;
  order: { first: readonly NodeId[]; last: readonly NodeId[] };
  maxUnavailable: Concurrency | null;
  spreadOverZones: boolean;
  /** CloudWatch alarms that halt the group while they ring. */
  haltOnAlarm: readonly string[];
};

const lengthOf = (text: string | undefined): Duration => parseDuration(text ?? '') ?? milliseconds(0);

export function rolloutPolicyOf(body: RolloutBody): RolloutPolicy {
  const { breaker, version, after, order } = body;
  const group = after === undefined ? null : parseGroupId(after.group);
  return {
    windows: windowsOf(body.windows),
    freezes: freezesOf(body.freezes),
    breaker: breaker === undefined ? null : { failures: breaker.failures, within: lengthOf(breaker.within) },
    version: {
      pin: version?.pin ?? null,
      skip: version?.skip ?? [],
      minVersionAge: lengthOf(version?.minVersionAge),
      allowDowngrade: version?.allowDowngrade ?? false,
    },
    after: after === undefined || group === null ? null : { group, soak: lengthOf(after.soak) },
    order: {
      first: (order?.first ?? []).flatMap((id) => parseNodeId(id) ?? []),
      last: (order?.last ?? []).flatMap((id) => parseNodeId(id) ?? []),
    },
    maxUnavailable: body.maxUnavailable === undefined ? null : concurrencyOf(body.maxUnavailable),
    spreadOverZones: body.spread === 'zone',
    haltOnAlarm: body.haltOnAlarm ?? [],
  };
}
