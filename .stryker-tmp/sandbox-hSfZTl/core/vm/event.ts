/** What can happen to a VM, and what deciding on it needs to know. */
// @ts-nocheck

import type { VmBody, VmReport } from '../contract.ts';
import type { Draw } from '../fact.ts';
import type { VmId } from '../ids.ts';
import type { Duration, Instant } from '../time.ts';
export type VmEvent = {
  kind: 'put';
  body: VmBody;
} | {
  kind: 'start';
} | {
  kind: 'stop';
  grace: Duration | null;
} | {
  kind: 'restart';
} | {
  kind: 'delete';
  force: boolean;
} | {
  kind: 'report';
  report: VmReport;
}
/** The host fetched the launch definition: it has taken the instance on. */ | {
  kind: 'launchFetched';
  instanceId: string;
} | {
  kind: 'due';
} | {
  kind: 'hostSilent';
  hostId: string;
} | {
  kind: 'hostFenced';
  hostId: string;
} | {
  kind: 'wakeFailed';
  status: string;
};
export type VmContext = {
  vmId: VmId;
  now: Instant;
  draw: Draw;
};