/**
 * Versions of agent and control plane beside each other. One minor version each way is supported and tested
 * (test/face/skew.test.ts, test/agent/skew.test.ts): so the two are updated one after the other, in any order.
 */

/** The version of everything in this repository, as package.json has it. */
export const VERSION = '0.1.0';

type Version = { major: number; minor: number };

function parse(text: string): Version | null {
  const found = /^v?(\d{1,6})\.(\d{1,6})(?:\.|$)/.exec(text);
  return found === null ? null : { major: Number(found[1]), minor: Number(found[2]) };
}

/** A sentence when the agent is further away than is supported; null when it is near, or says nothing to compare. */
export function saySkew(agentVersion: string | null, own: string = VERSION): string | null {
  if (agentVersion === null) return null;
  const [agent, plane] = [parse(agentVersion), parse(own)];
  if (agent === null || plane === null) return null;
  if (agent.major === plane.major && Math.abs(agent.minor - plane.minor) <= 1) return null;
  const older = agent.major < plane.major || (agent.major === plane.major && agent.minor < plane.minor);
  const which = older ? 'the agent' : 'the control plane';
  return `Its agent is ${agentVersion} and the control plane ${own}, more than one minor version apart: update ${which}.`;
}
