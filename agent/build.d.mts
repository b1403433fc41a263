/** Bundles the agent into one file; returns where it is. */
export function buildAgent(outfile?: string): Promise<string>;
