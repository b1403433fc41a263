/** RFC 9457 problems, with a code that a program can switch on. */
import type * as z from 'zod/mini';
import type { Problem } from '../../core/contract/answers.ts';
import { FIELDS_NOT_LANDED } from '../../core/contract/operator-bodies.ts';
import type { Refusal } from '../../core/decision/fact.ts';

export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  500: 'Internal error',
  503: 'Try again',
};

export function problem(status: number, code: string, detail: string, errors?: Problem['errors']): Problem {
  return {
    type: `urn:holdoff:problem:${code}`,
    title: TITLES[status] ?? 'Error',
    status,
    code,
    detail,
    ...(errors === undefined ? {} : { errors }),
  };
}

export const fail = (status: number, code: string, detail: string, errors?: Problem['errors']): ProblemError =>
  new ProblemError(problem(status, code, detail, errors));

export const ofRefusal = ({ status, code, detail }: Refusal): ProblemError => fail(status, code, detail);

/** A body that the schema refused: each path with what is wrong with it. */
export function invalidBody(issues: readonly z.core.$ZodIssue[], what: 'vm' | 'group' | null): ProblemError {
  const errors = issues.flatMap((issue) => explainIssue(issue, [], what));
  const first = errors[0];
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return fail(
    400,
    'InvalidBody',
    `the body is not valid: ${first === undefined ? 'unknown reason' : `${first.path} ${first.message}`}${rest}; nothing was changed`,
    errors,
  );
}

type Issue = z.core.$ZodIssue;

/** Each path that an issue is about; of a union, those of the alternative that the body comes closest to. */
function explainIssue(issue: Issue, under: readonly PropertyKey[], what: 'vm' | 'group' | null): ProblemPath[] {
  const path = [...under, ...issue.path];
  const at = path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownField(at === '' ? key : `${at}.${key}`, what));
  const closest = issue.code === 'invalid_union' ? closestOf(issue.errors) : null;
  if (closest !== null) return closest.flatMap((inner) => explainIssue(inner, path, what));
  return [{ path: at === '' ? '(body)' : at, message: issue.message }];
}

type ProblemPath = NonNullable<Problem['errors']>[number];

function unknownField(path: string, what: 'vm' | 'group' | null): ProblemPath {
  const later = what !== null && FIELDS_NOT_LANDED[what].includes(path);
  return {
    path,
    message: later
      ? 'belongs to a feature that this version does not have yet, so it is refused'
      : 'is not a field of this body',
  };
}

/** The alternative that only has fields too many; null when none is that close. */
function closestOf(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | null {
  return (
    alternatives.find((issues) => issues.length > 0 && issues.every(({ code }) => code === 'unrecognized_keys')) ?? null
  );
}
