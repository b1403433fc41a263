/** What the machine's API answers: plain text for errors, JSON for what was asked. */
export type Reply = { status: number; text?: string; json?: unknown };
