/** What operators send: strict, so that a misspelt field is refused with its path (DESIGN section 6). */
import * as z from 'zod/mini';
import { durationText, groupId, nodeId, positiveDuration, shortText, text } from '../kit/schema.ts';
import { vmBackoffSchema } from '../policy/backoff.ts';
import { leaseSchema, livenessSchema } from '../policy/vm-policy.ts';
import { windowLength } from '../policy/windows.ts';
import { RUN_STRATEGIES } from './words.ts';

/** The longest body the API takes, in bytes; a longer one is 413. */
export const BODY_BYTES_MAX = 256 * 1024;

/** No program can be given an argument with one: it would fail on the host, each time (DESIGN section 3 rule 5). */
const noNul = () => z.refine<string>((given) => !given.includes('\0'), 'must not contain the character NUL');

export const launchSchema = /* @__PURE__ */ z.lazy(() =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('libvirt'), domain: shortText().check(noNul()) }),
    z.strictObject({
      type: z.literal('qemu'),
      args: z.array(text(0, 4096).check(noNul())).check(z.maxLength(256)),
    }),
    z.strictObject({
      type: z.literal('exec'),
      command: z.union([
        text(1, 4096).check(noNul()),
        z.array(text(0, 4096).check(noNul())).check(z.minLength(1), z.maxLength(256)),
      ]),
    }),
  ]),
);
export type Launch = z.infer<typeof launchSchema>;

export const vmBodySchema = /* @__PURE__ */ z.lazy(() =>
  z
    .strictObject({
      hostId: nodeId(),
      runStrategy: z.enum(RUN_STRATEGIES),
      launch: launchSchema,
      backoff: z.optional(vmBackoffSchema),
      stableFor: z.optional(durationText()),
      startDeadline: z.optional(z.union([z.literal('none'), positiveDuration()])),
      /** How long its guest may fail to run before it is ended as Unhealthy; 5m unless set. */
      unresponsiveFor: z.optional(z.union([z.literal('none'), positiveDuration()])),
      /** So many resets of the guest by itself within `stableFor` end it; without it they are only shown. */
      resetLimit: z.optional(z.int().check(z.gte(1), z.lte(1000))),
      liveness: z.optional(livenessSchema),
      /** A host that is cut off for so long ends it by itself; then it may be started elsewhere without a person. */
      lease: z.optional(leaseSchema()),
      grace: z.optional(durationText()),
      simulateCrash: z.optional(z.boolean()),
      /** `block`: an update of its host waits before the reboot until the VM is off. Without it the VM is stopped for that time. */
      maintenance: z.optional(z.literal('block')),
      /** Where else it may run, in order of preference. */
      hosts: z.optional(z.array(nodeId()).check(z.minLength(1), z.maxLength(16))),
      /** Once its host is fenced it is started on the first of `hosts` that is in order. */
      restartElsewhere: z.optional(z.boolean()),
    })
    .check(
      z.refine((body) => body.restartElsewhere !== true || body.hosts !== undefined, {
        path: ['restartElsewhere'],
        message: 'needs hosts: the nodes on which the VM may be started when its own is fenced',
      }),
    ),
);
export type VmBody = z.infer<typeof vmBodySchema>;

/** Fields of DESIGN section 6 that belong to features not landed: refused by name, never accepted and ignored. */
export const FIELDS_NOT_LANDED: { readonly vm: readonly string[]; readonly group: readonly string[] } = {
  vm: [],
  group: [],
};

/** Of stop and restart: how long the guest may take to end by itself, instead of its VM's `grace`. */
export const stopBodySchema = /* @__PURE__ */ z.lazy(() => z.strictObject({ gracePeriod: z.optional(durationText()) }));
export const emptyBodySchema = /* @__PURE__ */ z.lazy(() => z.strictObject({}));
export const recoverBodySchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({
    force: z.optional(z.boolean()),
    cursor: z.optional(z.string().check(z.maxLength(400))),
  }),
);
/** With `withdraw` what is staged or activated is given up, too (DESIGN section 2 rule 6). */
export const nodeHoldBodySchema = /* @__PURE__ */ z.lazy(() => z.strictObject({ withdraw: z.optional(z.boolean()) }));
export const closeBreakerBodySchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({ version: z.optional(shortText()) }),
);
export const openWindowBodySchema = /* @__PURE__ */ z.lazy(() => z.strictObject({ for: windowLength() }));
export const expediteBodySchema = /* @__PURE__ */ z.lazy(() =>
  z.strictObject({ version: shortText(), for: windowLength() }),
);
export const nodeMoveBodySchema = /* @__PURE__ */ z.lazy(() => z.strictObject({ group: groupId() }));
