/** The QEMU Machine Protocol: one JSON object a line over a socket (QEMU, docs/interop/qmp-spec). */
import { connect, type Socket } from 'node:net';
import * as z from 'zod/mini';
import { AgentError, messageOf } from '../../failure.ts';

const messageSchema = z.object({
  QMP: z.optional(z.unknown()),
  event: z.optional(z.string()),
  return: z.optional(z.unknown()),
  error: z.optional(z.object({ class: z.string(), desc: z.string() })),
});
const statusSchema = z.object({ status: z.string() });

/** The commands the agent gives. */
export type QmpCommand = 'qmp_capabilities' | 'query-status' | 'system_powerdown' | 'cont' | 'quit';

export type QmpOptions = {
  readonly socket: string;
  readonly timeoutMs: number;
  /** Something has happened in the guest or to it: look. */
  readonly onEvent: (event: string) => void;
};

type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void };

/** A connection; QEMU serves one at a time, and the end of the agent frees it. */
export class Qmp {
  readonly #options: QmpOptions;
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #text = '';
  #closed = false;

  private constructor(options: QmpOptions) {
    this.#options = options;
    this.#socket = connect(options.socket);
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new AgentError('Host', 'QEMU has closed its QMP socket')));
    this.#socket.unref();
  }

  /** Connects and leaves the negotiation behind. */
  static async open(options: QmpOptions): Promise<Qmp> {
    const qmp = new Qmp(options);
    await qmp.#answer();
    await qmp.execute('qmp_capabilities');
    return qmp;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The run state, one of those of RunState in QEMU's qapi/run-state.json. */
  async status(): Promise<string> {
    const parsed = statusSchema.safeParse(await this.execute('query-status'));
    if (!parsed.success) throw new AgentError('Host', 'QEMU’s answer to query-status has no status');
    return parsed.data.status;
  }

  execute(command: QmpCommand): Promise<unknown> {
    const answer = this.#answer();
    this.#socket.write(`${JSON.stringify({ execute: command })}\n`);
    return answer;
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  /** The next answer; answers come in the order of the commands. */
  #answer(): Promise<unknown> {
    if (this.#closed) return Promise.reject(new AgentError('Host', 'the QMP connection is closed'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#fail(new AgentError('Host', `QEMU has not answered within ${this.#options.timeoutMs} ms`)),
        this.#options.timeoutMs,
      );
      const settled =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer);
          then(value);
        };
      this.#waiting.push({ resolve: settled(resolve), reject: settled(reject) });
    });
  }

  #take(text: string): void {
    this.#text += text;
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() !== '') this.#takeMessage(line);
    }
  }

  #takeMessage(line: string): void {
    let body: unknown;
    try {
      body = JSON.parse(line);
    } catch (error) {
      this.#fail(new AgentError('Host', `QEMU has sent what is not JSON: ${messageOf(error)}`));
      return;
    }
    const parsed = messageSchema.safeParse(body);
    if (!parsed.success) {
      this.#fail(new AgentError('Host', `QEMU has sent what is not QMP: ${line.slice(0, 200)}`));
      return;
    }
    const { event, error } = parsed.data;
    if (event !== undefined) {
      this.#options.onEvent(event);
      return;
    }
    const waiting = this.#waiting.shift();
    if (error === undefined) waiting?.resolve(parsed.data.return ?? null);
    else waiting?.reject(new AgentError('Host', `QEMU refused: ${error.class}: ${error.desc}`));
  }

  #fail(error: Error): void {
    this.close();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
