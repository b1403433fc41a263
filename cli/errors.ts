/** What can go wrong at the command line: what happened, why, what to try next, and the exit code that says so. */
import type { Problem } from '../core/contract/answers.ts';

/** Exit codes, as every `--help` lists them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  notFound: 4,
  notInTime: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Codes of failures that the CLI finds itself; a problem of the API keeps the code the API gave it. */
export type CliErrorCode =
  | 'Usage'
  | 'BadFile'
  | 'NoLocalControlPlane'
  | 'BadLocalFile'
  | 'NoCredentials'
  | 'Unreachable'
  | 'TimedOut'
  | 'NotInTime'
  | 'NotHoldoff'
  | 'UnknownFormat'
  | 'HttpError'
  | 'AwsRefused'
  | 'NoSuchQueue'
  | 'EndlessList'
  | 'Interrupted';

const EXIT_OF: Record<CliErrorCode, ExitCode> = {
  Usage: EXIT.usage,
  BadFile: EXIT.usage,
  NoLocalControlPlane: EXIT.unreachable,
  BadLocalFile: EXIT.unreachable,
  NoCredentials: EXIT.unreachable,
  Unreachable: EXIT.unreachable,
  TimedOut: EXIT.unreachable,
  NotInTime: EXIT.notInTime,
  NotHoldoff: EXIT.unreachable,
  UnknownFormat: EXIT.failed,
  HttpError: EXIT.failed,
  AwsRefused: EXIT.failed,
  NoSuchQueue: EXIT.failed,
  EndlessList: EXIT.failed,
  Interrupted: EXIT.interrupted,
};

export type ErrorText = { readonly what: string; readonly why?: string; readonly next?: string };

/** A failure that the CLI explains and exits with. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly text: ErrorText;

  constructor(code: CliErrorCode, text: ErrorText, options?: ErrorOptions & { exitCode?: ExitCode }) {
    super(text.what, options);
    this.code = code;
    this.exitCode = options?.exitCode ?? EXIT_OF[code];
    this.text = text;
  }
}

/** The API refused a request, or failed at it, and said so as a problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.code = problem.code;
    this.exitCode = exitOfStatus(problem.status);
    this.problem = problem;
  }
}

/** The exit code of an HTTP status that is not a success. */
export function exitOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.unreachable;
  return status === 404 ? EXIT.notFound : EXIT.failed;
}

export const EXIT_CODE_HELP = `
Exit codes:
  0    done
  1    refused or failed: the control plane said no, or could not
  2    the command line or a file it names is not right
  3    cannot reach the control plane, or it does not accept who you are
  4    there is no such node, VM or group
  5    wait: it did not come to that in time
  130  interrupted (Ctrl-C)`;
