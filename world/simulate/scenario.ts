/** The scenario file: its schema, and how a step is read (DESIGN section 9). */
import * as z from 'zod/mini';
import { END_CAUSES } from '../../core/contract/words.ts';
import { parseDuration, parseInstant } from '../../core/kit/time.ts';

const at = z.union([
  z.number().check(z.nonnegative()),
  z
    .string()
    .check(z.refine((text) => parseDuration(text) !== null, 'must be seconds from start, or a duration such as "90m"')),
]);
const status = z.union([z.int(), z.strictObject({ oneOf: z.array(z.int()).check(z.minLength(1)) })]);
const anyBody = z.record(z.string(), z.unknown());
const subject = { node: z.optional(z.string()), vm: z.optional(z.string()), group: z.optional(z.string()) };
const matcher = z.unknown();
const commandCount = z.strictObject({
  action: z.enum(['StartInstance', 'StopInstance', 'DriveNode']),
  count: z.union([
    z.int(),
    z.strictObject({ min: z.optional(z.int()), max: z.optional(z.int()) }),
    z.strictObject({ oneOf: z.array(z.int()) }),
  ]),
});

export const expectSchema = z.strictObject({
  ...subject,
  match: z.optional(z.record(z.string(), matcher)),
  commands: z.optional(z.union([commandCount, z.array(commandCount)])),
  absent: z.optional(z.boolean()),
});

/** How every launch of a VM goes from a step on. */
const launches = z.strictObject({
  end: z.optional(z.enum(['Failed', 'Succeeded'])),
  cause: z.optional(z.enum(END_CAUSES)),
  message: z.optional(z.string()),
  after: z.optional(at),
  until: z.optional(at),
});

const stepSchema = z.strictObject({
  at,
  ...subject,
  note: z.optional(z.string()),
  report: z.optional(anyBody),
  verb: z.optional(z.string()),
  body: z.optional(z.unknown()),
  put: z.optional(anyBody),
  delete: z.optional(z.union([z.literal(true), z.strictObject({ force: z.optional(z.boolean()) })])),
  commandStatus: z.optional(z.string()),
  launches: z.optional(launches),
  alarm: z.optional(z.string()),
  state: z.optional(z.enum(['ALARM', 'OK'])),
  status: z.optional(status),
  expect: z.optional(expectSchema),
});

const ACTIONS = ['report', 'verb', 'put', 'delete', 'commandStatus', 'launches', 'alarm', 'expect'] as const;

export const scenarioSchema = z.strictObject({
  name: z.optional(z.string()),
  description: z.optional(z.string()),
  start: z.optional(z.string().check(z.refine((text) => parseInstant(text) !== null, 'must be an RFC 3339 instant'))),
  seed: z.optional(z.int()),
  timerLatenessSeconds: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  groups: z.optional(z.record(z.string(), anyBody)),
  nodes: z.optional(
    z.union([z.record(z.string(), z.strictObject({ group: z.optional(z.string()) })), z.array(z.string())]),
  ),
  vms: z.optional(z.record(z.string(), anyBody)),
  steps: z.array(stepSchema),
});

export type Scenario = z.infer<typeof scenarioSchema>;
export type Step = z.infer<typeof stepSchema>;
export type Expectation = z.infer<typeof expectSchema>;
export type Subject = { kind: 'node' | 'vm' | 'group'; id: string };

/** A scenario that cannot be run: where, and why. */
export class ScenarioError extends Error {
  readonly code = 'InvalidScenario';
}

/** @throws {ScenarioError} naming the place that is wrong */
export function readScenario(text: string): Scenario {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ScenarioError(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = z.safeParse(scenarioSchema, json);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(
      (issue) => `${issue.path.map(String).join('.') || '(file)'}: ${issue.message}`,
    );
    throw new ScenarioError(lines.join('; '));
  }
  parsed.data.steps.forEach((step, index) => {
    if ((step.alarm === undefined) !== (step.state === undefined))
      throw new ScenarioError(`steps.${index}: alarm and state belong together`);
    const actions = ACTIONS.filter((action) => step[action] !== undefined);
    if (actions.length !== 1) {
      throw new ScenarioError(
        `steps.${index}: a step does one thing of ${ACTIONS.join(', ')}; this one has ${actions.length === 0 ? 'none' : actions.join(' and ')}`,
      );
    }
    if (step.alarm === undefined) subjectOf(step.expect ?? step, `steps.${index}`);
  });
  return parsed.data;
}

/** @throws {ScenarioError} unless exactly one of node, vm and group is named */
export function subjectOf(
  step: { node?: string | undefined; vm?: string | undefined; group?: string | undefined },
  where: string,
): Subject {
  const named: Subject[] = (['node', 'vm', 'group'] as const).flatMap((kind) => {
    const id = step[kind];
    return id === undefined ? [] : [{ kind, id }];
  });
  const [only] = named;
  if (only === undefined || named.length > 1)
    throw new ScenarioError(`${where}: name exactly one of node, vm and group`);
  return only;
}

/** Milliseconds of a time in a scenario: seconds, or a duration. */
export const millisecondsOf = (time: number | string): number =>
  typeof time === 'number' ? Math.round(time * 1000) : (parseDuration(time) ?? 0);

/** Milliseconds from start. */
export const offsetOf = (step: Step): number => millisecondsOf(step.at);
