/** The parts of an address as node:http wants them. */

/** Without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

export function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
