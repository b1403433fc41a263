/** What a node still waits for, first what is said (DESIGN section 2b). */
import type { GroupView } from '../group/view.ts';
import type { Instant } from '../kit/time.ts';
import { type Stop, stopsAt, stopsStart } from '../rollout/gates.ts';
import { offerOf } from './offer.ts';
import { type NodeRecord, waitsStaged } from './record.ts';

/** Empty while a step is being done, and when nothing is offered but what runs; a held Idle node says Held all the same. */
export function waitsFor(node: NodeRecord, group: GroupView, now: Instant): Stop[] {
  if (waitsStaged(node)) return stopsAt('activation', { node, group, version: node.spec.version, now });
  const offer = offerOf(node);
  switch (offer.kind) {
    case 'newer':
      return stopsStart(node, group, offer.version, now);
    case 'upToDate':
    case 'checkFailed':
    case 'stopped':
      return stopsAt('start', { node, group, version: null, now }).filter(({ code }) => code === 'Held');
    case 'removed':
    case 'notReported':
    case 'underWay':
    case 'recovering':
      return [];
  }
}
