/**
 * Whether VMs are declared on a node, so that the report of one without any costs one read (DESIGN section 10). Learned from
 * the index with reports that are written anyway; asked again each day, since an older release does not keep it true.
 */
import type { Outcome } from '../decision/fact.ts';
import { after, type Duration, hours, type Instant, minutes } from '../kit/time.ts';
import type { NodeRecord } from './record.ts';

const LOOK_EVERY: Duration = hours(24);
/** A VM that is being declared is in the index long before this has passed: only then its absence says something. */
const DECLARED_WITHIN: Duration = minutes(10);
/** A declaration is noted again after this: well before its absence may say something. */
const NOTED_AGAIN: Duration = minutes(5);

/** Whether the index has to be asked for the VMs of the node. */
export const mayHostVms = ({ hosting }: NodeRecord, now: Instant): boolean =>
  hosting == null || hosting.vms || now >= after(hosting.at, LOOK_EVERY);

/** A VM is about to be declared on the node, or to move there. */
export function declareVm(node: NodeRecord, now: Instant): Outcome<NodeRecord> {
  const { hosting } = node;
  if (hosting?.vms === true && now < after(hosting.at, NOTED_AGAIN)) return { kind: 'unchanged' };
  const next = { ...node, hosting: { vms: true, at: now }, revision: node.revision + 1 };
  return { kind: 'changed', next, facts: [] };
}

/** What the index says is written down with something else. */
export function learnHosting(node: NodeRecord, found: boolean, now: Instant): NodeRecord {
  const { hosting } = node;
  const learned: NodeRecord = { ...node, hosting: { vms: found, at: now } };
  if (hosting == null) return learned;
  if (found) return hosting.vms ? node : learned;
  return now >= after(hosting.at, hosting.vms ? DECLARED_WITHIN : LOOK_EVERY) ? learned : node;
}
