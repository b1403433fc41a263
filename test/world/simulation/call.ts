/** A request to the API, who makes it, and what it is answered. */
export type Caller =
  | { kind: 'operator' }
  | { kind: 'node'; nodeId: string }
  /** Of another account. */
  | { kind: 'stranger' }
  /** Without an identity. */
  | { kind: 'nobody' };

export type Call = {
  caller: Caller;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
  /** The caller is a node, but not the host of the VM that it speaks of. */
  wrongHost?: true;
};

export type Answer = { status: number; body: unknown };
