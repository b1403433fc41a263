/** The failure domain that this host runs in: as it was set, else as the instance metadata service says (DESIGN section 2b, Zones). */
import { askMetadata } from './identity.ts';
import { messageOf } from './failure.ts';
import type { Log } from './log.ts';
import type { Environment, Settings } from './settings.ts';

const ASKED_AGAIN_AFTER_MS = 10 * 60_000;

/**
 * Answers the zone as far as it is known by now. It is asked for in the background: no report waits for it, and a host
 * that is no instance, or that has no metadata service, simply has none.
 */
export function findZone(
  { zone, nodeId, requestTimeoutMs }: Pick<Settings, 'zone' | 'nodeId' | 'requestTimeoutMs'>,
  env: Environment,
  log: Log,
  ended: AbortSignal,
): () => string | null {
  if (zone !== '') return () => zone;
  if (!nodeId.startsWith('i-') || env['AWS_EC2_METADATA_DISABLED'] === 'true') return () => null;
  let found: string | null = null;
  const ask = async (): Promise<void> => {
    try {
      const [said = null] = await askMetadata(env, requestTimeoutMs, ['placement/availability-zone']);
      found = said;
      log('info', 'zone', { zone: found });
    } catch (error) {
      if (ended.aborted) return;
      log('warn', 'zone unknown', { why: messageOf(error), nextTryMs: ASKED_AGAIN_AFTER_MS });
      setTimeout(() => void ask(), ASKED_AGAIN_AFTER_MS).unref();
    }
  };
  void ask();
  return () => found;
}
