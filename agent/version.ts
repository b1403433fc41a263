/** What the agent says of itself in its reports. */
export { VERSION as AGENT_VERSION } from '../core/contract/skew.ts';
