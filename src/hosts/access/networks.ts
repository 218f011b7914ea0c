import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { privateAddress } from '../../service/errors.ts';
import { InvalidValue } from '../../setting-values.ts';
import { HttpError } from './http-error.ts';

export type Networks = ReturnType<typeof ipaddr.parseCIDR>[];

/** Such as `10.0.0.0/8` or `fd00::/8`. @throws InvalidValue that names the invalid entry */
export const parseNetworks = (networks: readonly string[]): Networks =>
  networks.map((text) => {
    const [address = '', prefix] = text.split('/');
    const network = prefix === undefined ? `${text}/${isIP(address) === 6 ? 128 : 32}` : text;
    if (isIP(address) === 0 || address.includes('%') || !ipaddr.isValidCIDR(network))
      throw new InvalidValue(`"${text}" is neither an address nor a network such as 10.0.0.0/8`);
    if (Number(prefix) === 0)
      throw new InvalidValue(`"${text}" is everybody, who could then claim any address`);
    return ipaddr.parseCIDR(network);
  });

/** False for text that is no IP address. */
const isIn = (trusted: Networks, text: string): boolean =>
  isIP(text) !== 0 &&
  ipaddr.subnetMatch(ipaddr.process(withoutZone(text)), { trusted }, '') === 'trusted';

const withoutZone = (address: string): string => address.split('%', 1).join();

/** The rightmost address in the chain of X-Forwarded-For and the socket that is not a trusted proxy. */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: Networks): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  let sender = withoutPort(socket.remoteAddress ?? 'unknown');
  for (const hop of forwarded.reverse().map((hop) => withoutPort(hop.trim()))) {
    if (!isIn(proxies, sender) || isIP(hop) === 0) break;
    sender = hop;
  }
  return sender;
}

/** Removes the port that some proxies append; an IPv4-mapped IPv6 address becomes the IPv4 address. */
function withoutPort(forwarded: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(forwarded) ?? [];
  return (bracketed ?? dotted ?? forwarded).replace(/^::ffff:(?=[\d.]+$)/i, '');
}

/** The /64 network of an IPv6 address, since a sender chooses the other half freely; other text unchanged. */
export const networkOf = (text: string): string =>
  isIP(text) === 6 ? `${ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone(text)}/64`)}/64` : text;

/** Headers by which proxies, tunnels and load balancers say for whom they forward a request. */
const forwardingHeader =
  /^(?:forwarded|via|x-(?:forwarded|original)-[a-z-]+|x-(?:real|client|cluster-client)-ip|(?:true|fly)-client-ip|cf-connecting-ip|cf-ray|cdn-loop|x-envoy-external-address)$/;

/**
 * For a server without authentication: requests of other machines that a proxy on this machine forwards come from a
 * loopback address, often with a loopback `Host`. A proxy that adds no header and speaks HTTP/1.1 is not recognised.
 * @throws HttpError (403) for a request that a proxy forwarded
 */
export function refuseForwarded({ headers, httpVersion }: IncomingMessage): void {
  const header = Object.keys(headers).find((name) => forwardingHeader.test(name));
  // MCP clients, browsers and Prometheus use HTTP/1.1; nginx before 1.29.7 forwards as HTTP/1.0 by default.
  const sign = header ?? (httpVersion === '1.0' ? 'HTTP/1.0' : undefined);
  if (sign === undefined) return;
  throw new HttpError(
    403,
    `A proxy forwarded this request (${sign}), and this server does not authenticate callers. Set CPQ_AUTH to token, oauth or key to serve callers through a proxy.`,
  );
}

/** All public IPv6 addresses are in 2000::/3. */
const publicIpv6 = /^[23][\da-f]{3}:/i;

/** Whether an IP address is not on the public internet; false for text that is no IP address. */
export function isPrivate(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(withoutZone(text));
  const isPublic = address.kind() === 'ipv4' || publicIpv6.test(text);
  return !isPublic || address.range() !== 'unicast';
}

/** Checks when connecting, so that a name cannot resolve differently afterwards (DNS rebinding). */
export const lookupPublicOnly: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const addresses = error ? [] : found;
    const refused = addresses.some(({ address }) => isPrivate(address));
    const first = addresses[0];
    if (error || refused || !first) callback(error ?? privateAddressError(hostname), []);
    else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

const privateAddressError = (hostname: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${hostname} leads to a private network`), { code: privateAddress });
