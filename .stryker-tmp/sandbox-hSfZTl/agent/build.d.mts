/** Bundles the agent into one file; returns where it is. */
// @ts-nocheck

export function buildAgent(outfile?: string): Promise<string>;
