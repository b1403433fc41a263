/** What can go wrong in the agent, as a closed list a log reader can switch on. */
export type AgentErrorCode =
  /** A setting is missing or cannot be read. */
  | 'Settings'
  /** Something that the protocol rules out has happened: ErrorReset as a desired state. Logged, never fatal. */
  | 'Assertion'
  /** An answer of the control plane does not have the shape of the contract. */
  | 'Protocol'
  /** No answer: connection, name, time-out. */
  | 'Network'
  /** The control plane answered with an error. */
  | 'Refused'
  /** The node's own update API or kernel files cannot be read. */
  | 'Host'
  /** Another agent is at work in this state directory. */
  | 'Locked';

export class AgentError extends Error {
  override readonly name: string = 'AgentError';
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The control plane said no: the HTTP status, and the `code` of its problem document when it had one. */
export class RefusedError extends AgentError {
  override readonly name: string = 'RefusedError';
  readonly status: number;
  readonly problem: string | null;

  constructor(status: number, problem: string | null, message: string) {
    super('Refused', message);
    this.status = status;
    this.problem = problem;
  }

  /** Asking again soon cannot help: identity, conflict, a body that is refused. */
  get lasting(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

/** The text of whatever was thrown, with the cause that `fetch` hides one level down. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Ours say it all already.
  if (error instanceof AgentError) return error.message;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}

/** The `code` of a Node system error, or null. */
export const systemCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** What a host that has run out of descriptors or memory answers: it says nothing of what was asked about. */
const SHORTAGES: readonly (string | null)[] = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];

/** Whether something could not even be asked, for want of descriptors or memory here. */
export const isShortage = (error: unknown): boolean =>
  SHORTAGES.includes(systemCode(error)) ||
  (error instanceof Error && error.cause !== undefined && isShortage(error.cause));
