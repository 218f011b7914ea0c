import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConfigError } from '../../config.ts';
import { HttpError } from './http-error.ts';

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [address: IpAddress, prefixLength: number];

/** The networks of the proxies whose X-Forwarded-For header is trusted. */
export type TrustedProxies = readonly Network[];

/**
 * Parses addresses and networks such as `10.0.0.0/8` or `fd00::/8`.
 * @throws ConfigError that names the invalid entry
 */
export function parseProxies(networks: readonly string[]): TrustedProxies {
  return networks.map((text) => {
    const network = parseNetwork(text);
    if (network) return network;
    throw new ConfigError(
      (nameOf) =>
        `${nameOf('trustedProxies')}: "${text}" is neither an address nor a network such as 10.0.0.0/8`,
    );
  });
}

function parseNetwork(text: string): Network | undefined {
  const [host = '', prefix, ...rest] = text.split('/');
  const address = parseAddress(host);
  if (!address || rest.length > 0) return undefined;
  const maxLength = address.kind() === 'ipv6' ? 128 : 32;
  if (prefix === undefined) return [address, maxLength];
  const length = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  return length <= maxLength ? [address, length] : undefined;
}

/**
 * Checked by Node first, because the library also accepts octal, hexadecimal and shortened IPv4 addresses.
 * It rejects some zone ids that Node accepts, so the zone is removed.
 */
function parseAddress(text: string): IpAddress | undefined {
  const [address = ''] = text.split('%', 1);
  return isIP(text) !== 0 && ipaddr.isValid(address) ? ipaddr.parse(address) : undefined;
}

/**
 * The sender's address: the rightmost address in the chain of X-Forwarded-For and the socket that is not a
 * trusted proxy.
 */
export function clientAddress(
  { socket, headers }: IncomingMessage,
  proxies: TrustedProxies,
): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  let sender = withoutPort(socket.remoteAddress ?? 'unknown');
  for (const hop of forwarded.reverse().map((hop) => withoutPort(hop.trim()))) {
    if (!isTrusted(sender, proxies) || isIP(hop) === 0) break;
    sender = hop;
  }
  return sender;
}

/** The /64 network of an IPv6 address, since a sender chooses the other half freely; other text unchanged. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return text;
  const parts = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${parts.join(':')}::/64`;
}

function isTrusted(text: string, proxies: TrustedProxies): boolean {
  const address = parseAddress(text);
  return (
    address !== undefined &&
    proxies.some(
      ([network, length]) => network.kind() === address.kind() && address.match(network, length),
    )
  );
}

/** Removes the port that some proxies append; an IPv4-mapped IPv6 address becomes the IPv4 address. */
function withoutPort(forwarded: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(forwarded) ?? [];
  const text = bracketed ?? dotted ?? forwarded;
  const address = parseAddress(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address().toString()
    : text;
}

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
  const advice = 'Set CPQ_AUTH to token, oauth or key to serve callers through a proxy.';
  if (header !== undefined) {
    throw new HttpError(
      403,
      `A proxy forwarded this request (${header}), and this server does not authenticate callers. ${advice}`,
    );
  }
  // MCP clients, browsers and Prometheus use HTTP/1.1; nginx before 1.29.7 forwards as HTTP/1.0 by default.
  if (httpVersion === '1.0') {
    throw new HttpError(
      403,
      `HTTP/1.0 is refused, because proxies use it when they forward, and this server does not authenticate callers. ${advice}`,
    );
  }
}
