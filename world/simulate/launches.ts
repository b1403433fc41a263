/** Hosts whose launches all go the same way: the `launches` of a step. Nobody else answers a start in a simulation. */
import { after, type Instant, milliseconds } from '../../core/kit/time.ts';
import { type Instance, live } from '../../core/vm/record.ts';
import type { VmId } from '../../core/kit/ids.ts';
import { peek } from '../records.ts';
import type { World } from './world.ts';

export type Launches = {
  /** How each launch ends, until `until`. */
  end: 'Failed' | 'Succeeded';
  cause?: string;
  message?: string;
  /** From the start of an instance to the report. */
  afterMs: number;
  /** From then on every launch reports Running instead; null for never. */
  until: Instant | null;
};

/** Sends a report about an instance as the VM's host; the answer belongs in the timeline. */
export type SendReport = (vmId: string, report: Record<string, unknown>) => Promise<void>;

export class Hosts {
  readonly #world: World;
  readonly #send: SendReport;
  readonly #launches = new Map<string, Launches>();

  constructor(world: World, send: SendReport) {
    this.#world = world;
    this.#send = send;
    world.onCommand = ({ ref, action }) => {
      if (ref.kind === 'vm' && action === 'StartInstance') this.#answer(ref.id);
    };
  }

  /** From now on; an instance that is there ends that way too. */
  set(vmId: string, launches: Launches): void {
    this.#launches.set(vmId, launches);
    if (live(this.#instance(vmId))) this.#answer(vmId);
  }

  #instance(vmId: string): Instance | null {
    // An id that no VM has is not found.
    return peek(this.#world.table, 'vm', vmId as VmId)?.instance ?? null;
  }

  #answer(vmId: string): void {
    const launches = this.#launches.get(vmId);
    if (launches === undefined) return;
    const at = after(this.#world.now, milliseconds(launches.afterMs));
    this.#world.schedule(at, async () => {
      const instance = this.#instance(vmId);
      // A stop or a delete may have ended it before, and a later step may have changed how launches go.
      if (!live(instance) || this.#launches.get(vmId) !== launches) return;
      const { instanceId } = instance;
      if (instance.stop !== null) return this.#send(vmId, { instanceId, phase: 'Failed', cause: 'Requested' });
      if (launches.until !== null && at >= launches.until) return this.#send(vmId, { instanceId, phase: 'Running' });
      const { end: phase, cause, message } = launches;
      return this.#send(vmId, {
        instanceId,
        phase,
        ...(cause === undefined ? {} : { cause }),
        ...(message === undefined ? {} : { message }),
      });
    });
  }
}
