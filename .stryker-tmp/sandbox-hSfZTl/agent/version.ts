/** What the agent says of itself in its reports. */
// @ts-nocheck

export const AGENT_VERSION = '0.1.0';
