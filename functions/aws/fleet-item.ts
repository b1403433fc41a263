/** The one item that holds the fleet as the sweep last counted it. */
import { TABLE } from '../../core/contract/table.ts';
import type { FleetCount } from '../../core/fleet/count.ts';
import { fromAttributes, toAttributes } from './attributes.ts';
import type { Item, Write } from './item.ts';

/** What another release writes in another form is counted anew by the next sweep. */
const FORMAT = 1;

export const FLEET_KEY: Item = toAttributes({ [TABLE.key.partition]: 'fleet#count', [TABLE.key.sort]: 'A' });

/** The last one that was counted stands: a sweep that overtakes another is as good. */
export const fleetWrite = (count: FleetCount): Write => ({
  UpdateExpression: 'SET #a0 = :v0, #a1 = :v1',
  ExpressionAttributeNames: { '#a0': 'format', '#a1': 'count' },
  ExpressionAttributeValues: toAttributes({ ':v0': FORMAT, ':v1': count }),
});

export function readFleet(item: Item): FleetCount | null {
  const { format, count } = fromAttributes(item);
  // What is written in this format is what `fleetWrite` was given.
  return format === FORMAT && typeof count === 'object' && count !== null ? (count as FleetCount) : null;
}
