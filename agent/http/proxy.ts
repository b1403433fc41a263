/**
 * Which proxy a request goes through: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or not, as curl and the host
 * containers of Bottlerocket have them (facts, section 6).
 */
import { BlockList, isIP } from 'node:net';
import { AgentError } from '../failure.ts';
import type { Environment } from '../settings.ts';
import { hostOf, portOf } from './address.ts';

export type ProxyChoice = (url: URL) => URL | null;

/** Reads the variables once. Throws a Settings error that names the one that is no URL. */
export function readProxies(env: Environment): ProxyChoice {
  const read = (name: string): URL | null => {
    const text = env[name] ?? env[name.toLowerCase()] ?? '';
    if (text === '') return null;
    const full = text.includes('://') ? text : `http://${text}`;
    const url = URL.canParse(full) ? new URL(full) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new AgentError('Settings', `${name} must be the http or https URL of a proxy`);
    }
    return url;
  };
  const [https, http] = [read('HTTPS_PROXY'), read('HTTP_PROXY')];
  const direct = readExceptions(env['NO_PROXY'] ?? env['no_proxy'] ?? '');
  return (url) => (direct(url) ? null : url.protocol === 'https:' ? https : http);
}

/** Names with what is below them, addresses, blocks of addresses, each with a port or without; `*` for all. */
function readExceptions(text: string): (url: URL) => boolean {
  const blocks = new BlockList();
  const names: { host: string; port: number | null }[] = [];
  for (const item of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const [address = '', bits] = item.split('/');
    const family = isIP(address);
    if (family !== 0) {
      const length = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
      if (length >= 0 && length <= (family === 4 ? 32 : 128)) {
        blocks.addSubnet(address, length, family === 4 ? 'ipv4' : 'ipv6');
      }
      continue;
    }
    const [, host = item, port] = /^(.*?)(?::(\d+))?$/.exec(item) ?? [];
    names.push({ host: host.replace(/^\*?\./, '').toLowerCase(), port: port === undefined ? null : Number(port) });
  }
  return (url) => {
    const host = hostOf(url).toLowerCase();
    const family = isIP(host);
    if (family !== 0 && blocks.check(host, family === 4 ? 'ipv4' : 'ipv6')) return true;
    return names.some(
      (name) =>
        (name.port === null || name.port === portOf(url)) &&
        (name.host === '*' || host === name.host || host.endsWith(`.${name.host}`)),
    );
  };
}
