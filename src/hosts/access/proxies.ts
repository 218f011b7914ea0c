import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../../config.ts';

/** The proxies whose word is believed. */
export type Proxies = Pick<BlockList, 'check'>;

/**
 * Reads addresses and networks such as `10.0.0.0/8` or `fd00::/8`.
 * @throws ConfigError that names the one that is none
 */
export function proxiesFrom(networks: readonly string[]): Proxies {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits, ...rest] = network.split('/');
    const family = familyOf(address);
    const most = family === 'ipv6' ? 128 : 32;
    const length = bits === undefined ? most : Number(bits);
    if (!family || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? '0') || length > most) {
      throw new ConfigError(
        `CPQ_TRUSTED_PROXIES: "${network}" is neither an address nor a network such as 10.0.0.0/8`,
      );
    }
    list.addSubnet(address, length, family);
  }
  return list;
}

/**
 * The address that a request comes from: what the last proxy that is not believed says of itself, which
 * is the sender's own where there is no proxy.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: Proxies): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const hops = [
    ...forwarded.map((hop) => withoutPort(hop.trim())),
    withoutPort(socket.remoteAddress ?? 'unknown'),
  ];
  let sender = hops.pop() as string;
  while (hops.length > 0 && isTrusted(sender, proxies)) {
    const before = hops.pop() as string;
    if (!isIP(before)) break;
    sender = before;
  }
  return sender;
}

/**
 * What one sender can choose freely is one sender: of an IPv6 address the first half, since the other is
 * for whoever has the network to give.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = (address.split('%', 1)[0] ?? '').split('::');
  const [first, last] = [head, tail].map((half) => half.split(':').filter((part) => part !== ''));
  const dotted = address.includes('.') ? 1 : 0;
  const left = 8 - (first?.length ?? 0) - (last?.length ?? 0) - dotted;
  const parts = [...(first ?? []), ...Array(Math.max(0, left)).fill('0'), ...(last ?? [])];
  return `${parts.slice(0, 4).map(shortened).join(':')}::/64`;
}

const shortened = (part: string): string => part.toLowerCase().replace(/^0+(?=.)/, '');

function isTrusted(address: string, proxies: Proxies): boolean {
  const family = familyOf(address);
  return family !== undefined && proxies.check(address, family);
}

/** Without the port that some proxies write, and an IPv4 address as such where it came as an IPv6 one. */
function withoutPort(forwarded: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(forwarded) ?? [];
  return (bracketed ?? dotted ?? forwarded).replace(/^::ffff:(?=\d+\.)/i, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}
