/** VMs of a laptop for the tests with real guests: their declarations, waits for what becomes of them, and verbs. */
import type { VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { RunStrategy } from '../../core/contract/words.ts';
import { type Answer, call } from '../../local/demo/client.ts';
import { type Laptop, until } from '../system/laptop.ts';

/** A declaration whose waits are short enough for a test. */
export const vmBody = (
  hostId: string,
  runStrategy: RunStrategy,
  launch: VmBody['launch'],
  more: Partial<VmBody> = {},
): VmBody => ({
  hostId,
  runStrategy,
  launch,
  grace: '10s',
  backoff: { base: '2s', factor: 2, cap: '30s', jitter: 0.5 },
  ...more,
});

export const running = (vm: VmJson): boolean => vm.printableStatus === 'Running';

export class Vms {
  readonly #laptop: Laptop;

  constructor(laptop: Laptop) {
    this.#laptop = laptop;
  }

  /** Waits until a VM is as wanted; what it was at last is in the error. */
  sees = async (vmId: string, what: string, wanted: (vm: VmJson) => boolean): Promise<VmJson> => {
    let last: VmJson | undefined;
    try {
      return await until(`${vmId}: ${what}`, async () => {
        last = (await this.#laptop.vms()).find((vm) => vm.vmId === vmId);
        return last !== undefined && wanted(last) ? last : null;
      });
    } catch (error) {
      throw new Error(JSON.stringify(last, null, 1), { cause: error });
    }
  };

  verb = (vmId: string, name: string, body: unknown = {}): Promise<Answer> =>
    call(this.#laptop.connection, 'POST', `/v1/vms/${vmId}/${name}`, body);
}
