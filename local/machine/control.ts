/** What may be done to a machine from outside, below /test/ of its socket: for tests and the demo. */
import * as z from 'zod/mini';
import { type Faults, faultsSchema } from './faults.ts';
import type { Reply } from './reply.ts';

export type Controlled = {
  state(): { readonly faults: Faults };
  setFaults(faults: Faults): void;
  reboot(): Promise<void>;
  killAgent(): void;
  stopAgent(): Promise<void>;
  startAgent(): void;
};

export async function control(machine: Controlled, method: string, path: string, body: unknown): Promise<Reply> {
  switch (`${method} ${path}`) {
    case 'GET /state':
      return { status: 200, json: machine.state() };
    case 'POST /faults': {
      const faults = faultsSchema.safeParse(body);
      if (!faults.success) return { status: 400, text: z.prettifyError(faults.error) };
      machine.setFaults(faults.data);
      return { status: 200, json: machine.state().faults };
    }
    case 'POST /power-cycle':
      void machine.reboot();
      return { status: 202 };
    case 'POST /agent/kill':
      machine.killAgent();
      return { status: 202 };
    case 'POST /agent/stop':
      await machine.stopAgent();
      return { status: 204 };
    case 'POST /agent/start':
      machine.startAgent();
      return { status: 204 };
    default:
      return { status: 404, text: 'no such control' };
  }
}
