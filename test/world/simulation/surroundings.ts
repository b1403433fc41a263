/** What a machine lives in, and what its agent sees of it. */
import type { Network } from './calls.ts';
import type { Faults } from './faults.ts';
import type { Kernel } from '../../../world/kernel.ts';

/** What all machines share. */
export type Surroundings = {
  kernel: Kernel;
  faults: Faults;
  network: Network;
  draw: () => number;
  /** The version that the update source offers now. */
  offered: () => string;
  note: (text: string) => void;
  /** Ground truth: a guest began or ceased to exist. */
  guestBegan: (vmId: string, instanceId: string, hostId: string) => void;
  guestEnded: (vmId: string, instanceId: string) => void;
};

/** A machine, as the two halves of its agent see it. */
export interface Body {
  readonly nodeId: string;
  readonly group: string | null;
  readonly around: Surroundings;
  readonly bootId: string;
  readonly version: string;
  readonly uptime: number;
  readonly up: boolean;
  /** Its workloads were sent away for an update: known to its cluster, whatever becomes of the agent's record. */
  drained: boolean;
  /** The agent's requests are refused until then: its clock is off. */
  readonly clockOffUntil: number;
  readonly host: { poll: () => void };
  /** Runs `act` later, unless the agent or the machine was restarted before. */
  in: (ms: number, act: () => void) => void;
  /** The machine goes down and comes up again, into a version; its guests are gone. */
  reboot: (version: string, downMs: number, planned: boolean) => void;
}
