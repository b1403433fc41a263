/** An error as text: what happened, why, what to try next. */
import { oneLine } from '../present/text.ts';
import { paint, type Screen } from '../present/tone.ts';
import type { Invocation } from './command.ts';
import { CliError, type ProblemError } from './errors.ts';

type Subject = Invocation['subject'];
type Told = {
  readonly what: string;
  readonly why?: string;
  readonly fields: readonly string[];
  readonly next?: string;
};

const id = (subject: Subject): string => subject?.id ?? 'ID';

/** What to try after a problem with a code of its own: each that `can` gives (core/contract/can.ts), and some more. */
const NEXT_BY_CODE: Readonly<Record<string, (subject: Subject) => string>> = {
  VmTerminating: (subject) => `wait until it is gone: holdoff vms wait ${id(subject)} --for deleted`,
  VmHalted: (subject) => `change its runStrategy: holdoff vms put ${id(subject)} --file FILE`,
  VmRanOnce: (subject) => `holdoff vms stop ${id(subject)}, then holdoff vms start ${id(subject)}`,
  VmRunsOnce: (subject) => `holdoff vms stop ${id(subject)}, then holdoff vms start ${id(subject)}`,
  NodeUnderWay: (subject) => `holdoff nodes wait ${id(subject)} --for phase=Idle, then the command again`,
  Frozen: (subject) => `put the policy without that freeze: holdoff groups put ${id(subject)} --file FILE`,
  DefaultGroup: (subject) => `put another policy: holdoff groups put ${id(subject)} --file FILE`,
  GroupNotFound: () => 'see what there is: holdoff groups',
  InstanceNotEnded: (subject) =>
    `stop it first: holdoff vms stop ${subject?.id ?? 'ID'}; if its host is gone for good: holdoff nodes fence HOST`,
};

function nextStep({ problem }: ProblemError, subject: Subject): string {
  const byCode = NEXT_BY_CODE[problem.code];
  if (byCode !== undefined) return byCode(subject);
  const show = subject === undefined ? 'holdoff summary' : `holdoff ${subject.noun} show ${subject.id}`;
  if (problem.status === 400) return 'correct that and run the command again; `holdoff openapi` describes every body';
  if (problem.status === 401 || problem.status === 403) {
    return 'use the identity of an operator (--profile NAME): that of a node may only speak for its node';
  }
  if (problem.status === 404) return `see what there is: holdoff ${subject?.noun ?? 'summary'}`;
  if (problem.status === 409) return `see how things stand now: ${show}`;
  if (problem.status === 413) return 'make the body smaller: at most 256 KiB';
  return 'try again in a minute; if it stays so, look at the alarms and logs of the API function';
}

function tell(error: CliError | ProblemError, subject: Subject): Told {
  if (error instanceof CliError) return { ...error.text, fields: [] };
  const { problem } = error;
  const refused = problem.status < 500 ? 'refused' : 'failed';
  return {
    what: `${refused} by the control plane (${problem.status} ${problem.code})`,
    why: problem.detail,
    fields: (problem.errors ?? []).map(({ path, message }) => `${path === '' ? 'the body' : path}: ${message}`),
    next: nextStep(error, subject),
  };
}

/** The error in lines: `vms stop web: refused …`, why, the fields at fault, what to try. */
export function failureText(
  error: CliError | ProblemError,
  invocation: Pick<Invocation, 'name' | 'subject'>,
  screen: Screen,
): string {
  const told = tell(error, invocation.subject);
  const about = [invocation.name, invocation.subject?.id].filter((part) => part !== undefined).join(' ');
  return [
    `${paint('error:', 'bad', screen)} ${about}: ${oneLine(told.what)}`,
    ...(told.why === undefined ? [] : [`  why: ${oneLine(told.why)}`]),
    ...told.fields.map((field) => `    ${oneLine(field)}`),
    ...(told.next === undefined ? [] : [`  try: ${told.next}`]),
  ].join('\n');
}

/** The error as one JSON object, for `--json`. */
export function failureJson(error: CliError | ProblemError, invocation: Pick<Invocation, 'name' | 'subject'>): object {
  const told = tell(error, invocation.subject);
  return {
    error: {
      code: error.code,
      exitCode: error.exitCode,
      command: invocation.name,
      what: told.what,
      why: told.why ?? null,
      next: told.next ?? null,
      ...(error instanceof CliError ? {} : { problem: error.problem }),
    },
  };
}
