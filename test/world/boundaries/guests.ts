/** The VMs that a host runs: it asks what should run, launches that, ends what is to end, and reports. */
import * as z from 'zod/mini';
import { SECOND, type Stage } from './stage.ts';

/**
 * How an instance goes: it runs, never comes up, hangs before Running, runs for half a minute and breaks, or is done
 * after half a minute.
 */
export type Fate = 'runs' | 'fails' | 'hangs' | 'breaks' | 'done';

const BOOT = 3 * SECOND;
const SHORT = 30 * SECOND;
const END = 2 * SECOND;

const lines = z.object({
  items: z.array(z.object({ vmId: z.string(), uid: z.string(), instanceId: z.string(), power: z.enum(['on', 'off']) })),
});
type Line = z.infer<typeof lines>['items'][number];
const vmAnswer = z.object({ desired: z.object({ power: z.enum(['on', 'off']) }) });

export class Guests {
  readonly #stage: Stage;
  readonly #host: string;
  readonly #fates: Record<string, Fate[]>;
  /** Instances taken on and not ended, and whether they are ending. */
  readonly #present = new Map<string, Line & { ending: boolean }>();
  readonly #over = new Set<string>();
  /** Counts the lives of the host itself. */
  #life = 0;
  #draining = false;

  constructor(stage: Stage, host: string, fates: Record<string, Fate[]>) {
    this.#stage = stage;
    this.#host = host;
    this.#fates = fates;
  }

  /** Asks, a moment later, what should run here. */
  look(): void {
    this.#later(SECOND, () =>
      this.#stage.agent({ nodeId: this.#host, method: 'GET', path: `/v1/nodes/${this.#host}/vms` }, async (answer) => {
        if (answer.status !== 200) return;
        const wanted = z.parse(lines, answer.body).items;
        for (const line of wanted) await this.#follow(line);
        for (const line of this.#present.values())
          if (!line.ending && !wanted.some(({ instanceId }) => instanceId === line.instanceId))
            await this.#report(line, 'Running');
      }),
    );
  }

  /** The host is off, and with it what it ran. */
  lose(): void {
    this.#life += 1;
    for (const line of this.#present.values()) this.#gone(line);
  }

  /** The host is about to reboot: what lives on it is ended first, and nothing is begun until it has been up again. */
  async drain(then: () => Promise<void>): Promise<void> {
    this.#draining = true;
    for (const line of this.#present.values()) this.#end(line, 'Succeeded', 'HostMaintenance');
    if (this.#present.size > 0) this.#later(SECOND, () => this.drain(then));
    else await then();
  }

  /** The step is over, whichever way: guests may begin again. */
  drained(): void {
    this.#draining = false;
  }

  #later(ms: number, act: () => Promise<void>): void {
    const life = this.#life;
    this.#stage.after(ms, async () => {
      if (life === this.#life) await act();
    });
  }

  async #follow(line: Line): Promise<void> {
    const known = this.#present.get(line.instanceId);
    if (line.power === 'off') {
      if (known === undefined) await this.#report(line, 'Failed', 'Requested');
      else this.#end(line, 'Failed', 'Requested');
      return;
    }
    if (known !== undefined) return;
    if (this.#over.has(line.instanceId)) await this.#report(line, 'Failed', 'Unknown');
    else if (!this.#draining) await this.#launch(line);
  }

  async #launch(line: Line): Promise<void> {
    this.#present.set(line.instanceId, { ...line, ending: false });
    const path = `/v1/vms/${line.vmId}/launch?instanceId=${line.instanceId}`;
    await this.#stage.agent({ nodeId: this.#host, method: 'GET', path }, async ({ status }) => {
      if (status !== 200) {
        this.#present.delete(line.instanceId);
        return;
      }
      const fate = this.#fates[line.vmId]?.shift() ?? 'runs';
      this.#stage.history.launched(line.vmId, line.instanceId);
      await this.#report(line, 'Scheduled');
      if (fate === 'hangs') return;
      this.#later(BOOT, async () => {
        if (fate === 'fails') {
          this.#end(line, 'Failed', 'LaunchFailed');
          return;
        }
        if (!this.#alive(line)) return;
        await this.#report(line, 'Running');
        if (fate === 'breaks') this.#later(SHORT, () => Promise.resolve(this.#end(line, 'Failed', 'GuestPanic')));
        if (fate === 'done') this.#later(SHORT, () => Promise.resolve(this.#end(line, 'Succeeded', 'GuestShutdown')));
      });
    });
  }

  #alive({ instanceId }: Line): boolean {
    return this.#present.get(instanceId)?.ending === false;
  }

  /** Ends an instance and says so, once. */
  #end(line: Line, phase: string, cause: string): void {
    const present = this.#present.get(line.instanceId);
    if (present === undefined || present.ending) return;
    present.ending = true;
    this.#later(END, async () => {
      this.#gone(line);
      await this.#report(line, phase, cause);
    });
  }

  #gone({ vmId, instanceId }: Line): void {
    this.#present.delete(instanceId);
    this.#over.add(instanceId);
    this.#stage.history.ended(vmId, instanceId);
  }

  async #report(line: Line, phase: string, cause?: string): Promise<void> {
    const { vmId, uid, instanceId } = line;
    const body = (): unknown => ({ instanceId, uid, phase, ...(cause === undefined ? {} : { cause }) });
    const say = `${phase}${cause === undefined ? '' : ` ${cause}`}`;
    const call = { nodeId: this.#host, method: 'POST', path: `/v1/vms/${vmId}/reports`, body, say };
    await this.#stage.agent(call, ({ status, body: answer }) => {
      const parsed = z.safeParse(vmAnswer, answer);
      if (status === 200 && parsed.success && parsed.data.desired.power === 'off')
        this.#end(line, 'Failed', 'Requested');
    });
  }
}
