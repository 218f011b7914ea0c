import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { privateAddress } from '../../service/errors.ts';

/** Networks that are not the public internet: IANA's registries of special-purpose addresses. */
const nonPublicRanges = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Unspecified, loopback and IPv4-compatible addresses; BlockList checks `::ffff:` addresses as IPv4.
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]) {
  const [address = '', bits] = network.split('/');
  nonPublicRanges.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Whether an IP address is not on the public internet; false for text that is no IP address. */
export function isPrivate(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && nonPublicRanges.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Resolves a host name and fails if any of its addresses is private. Used when connecting, so that a name
 * cannot resolve differently after the check (DNS rebinding).
 */
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
