/** The settings API of a machine: reading by key, and changes that are staged in a transaction and then committed. */
import * as z from 'zod/mini';
import type { Reply } from './reply.ts';

const patchSchema = z.looseObject({ updates: z.optional(z.record(z.string(), z.unknown())) });

export type SettingsHost = {
  /** settings.updates.version-lock; it is on the disk. */
  versionLock(): string;
  lockVersion(version: string): void;
  /** Settings besides those of updates, such as `kubernetes`. */
  readonly others: Readonly<Record<string, unknown>>;
};

export class NodeSettings {
  readonly #host: SettingsHost;
  readonly #pending = new Map<string, string>();

  constructor(host: SettingsHost) {
    this.#host = host;
  }

  get(query: URLSearchParams): Reply {
    const updates: Record<string, unknown> = {
      'version-lock': this.#host.versionLock(),
      'ignore-waves': false,
      seed: 1000,
    };
    const keys = query.get('keys');
    if (keys === '') return { status: 400, text: 'Empty key list' };
    if (keys === null) return { status: 200, json: { updates, ...this.#host.others } };
    const wanted = keys.split(',').map((key) => key.slice('settings.updates.'.length));
    const unknown = wanted.find((key) => !(key in updates));
    if (unknown !== undefined) return { status: 404, text: `Key not found: ${unknown}` };
    return { status: 200, json: { updates: Object.fromEntries(wanted.map((key) => [key, updates[key]])) } };
  }

  /** Only the version-lock can be changed here: a double that accepted more would hide a mistake. */
  patch(transaction: string, body: unknown): Reply {
    const parsed = patchSchema.safeParse(body);
    const lock = parsed.success ? parsed.data.updates?.['version-lock'] : undefined;
    if (typeof lock !== 'string' || !/^(?:latest|v?\d+\.\d+\.\d+\S*)$/.test(lock)) {
      return { status: 400, text: 'Unable to deserialize into model' };
    }
    this.#pending.set(transaction, lock);
    return { status: 204 };
  }

  commit(transaction: string): Reply {
    const lock = this.#pending.get(transaction);
    if (lock === undefined) return { status: 422, text: `No pending settings in transaction ${transaction}` };
    this.#pending.delete(transaction);
    this.#host.lockVersion(lock);
    return { status: 200, json: ['settings.updates.version-lock'] };
  }
}
