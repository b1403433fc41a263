/** One JSON object a line on stderr: `{at, level, event, …}`. */
// @ts-nocheck

export type Level = 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Log = (level: Level, event: string, fields?: LogFields) => void;

/** A log that writes to the given stream and names the node in every line. */
export function createLog(write: (line: string) => void, nodeId: string, now: () => number): Log {
  return (level, event, fields = {}) => {
    write(`${JSON.stringify({ at: new Date(now()).toISOString(), level, event, nodeId, ...fields })}\n`);
  };
}
