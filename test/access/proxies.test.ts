import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config.ts';
import { FailureLimiter } from '../../src/hosts/access/failure-limiter.ts';
import { clientAddress, networkOf, parseProxies } from '../../src/hosts/access/proxies.ts';
import fc from '../support/fast-check.ts';

const trusted = parseProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);

const from = (remoteAddress: string | undefined, forwarded?: string) =>
  clientAddress(
    { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as never,
    trusted,
  );

const proxy = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.1.${a}.${b}`),
  fc.nat(0xffff).map((part) => `fd00::${part.toString(16)}`),
  fc.constant('192.0.2.1'),
);
const outside = fc.oneof(
  fc.nat(255).map((last) => `203.0.113.${last}`),
  fc.nat(0xffff).map((part) => `2001:db8::${part.toString(16)}`),
);
/** Any value that a sender may put into the header. */
const claimed = fc.oneof(
  outside,
  proxy,
  fc.string(),
  fc.constantFrom('unknown', '', ',', '_hidden'),
);

describe('the sender of a request', () => {
  test('is the peer of the connection where that is not a trusted proxy', () => {
    fc.assert(
      fc.property(outside, fc.array(claimed), (sender, forwardedFor) => {
        expect(from(sender, forwardedFor.join(', '))).toBe(sender);
      }),
    );
  });

  test('is the client of the first trusted proxy', () => {
    fc.assert(
      fc.property(
        fc.array(claimed),
        outside,
        fc.array(proxy, { minLength: 1, maxLength: 5 }),
        (forwardedFor, sender, proxies) => {
          const [last = '', ...others] = [...proxies].reverse();
          expect(from(last, [...forwardedFor, sender, ...others.reverse()].join(', '))).toBe(
            sender,
          );
        },
      ),
    );
  });

  test('is never an invalid address', () => {
    fc.assert(
      fc.property(proxy, fc.array(claimed), (last, forwardedFor) => {
        const known = [
          last,
          ...forwardedFor
            .join(',')
            .split(',')
            .map((one) => one.trim()),
        ];
        const sender = from(last, forwardedFor.join(', '));
        expect(known).toContain(sender);
        expect(sender).toMatch(/^[\da-f.:]+$/i);
      }),
    );
  });

  test('is the same for every spelling of an address', () => {
    expect(from('::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(from('::ffff:10.0.0.1', '203.0.113.7')).toBe('203.0.113.7');
    expect(from('10.0.0.1', '203.0.113.7:4711')).toBe('203.0.113.7');
    expect(from('10.0.0.1', '[2001:db8::7]:4711')).toBe('2001:db8::7');
    expect(from('10.0.0.1', '[2001:db8::7]')).toBe('2001:db8::7');
    expect(from('10.0.0.1', '::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(from('10.0.0.1', '203.0.113.7 , 10.0.0.2')).toBe('203.0.113.7');
    expect(from('10.0.0.1', '')).toBe('10.0.0.1');
    expect(from(undefined, '203.0.113.7')).toBe('unknown');
    expect(from('10.0.0.1', '::ffff:cb00:7107')).toBe('203.0.113.7');
    expect(from('fe80::1%eth0', '203.0.113.7')).toBe('fe80::1%eth0');
  });

  test('is always the peer where no proxies are trusted', () => {
    fc.assert(
      fc.property(fc.oneof(proxy, outside), fc.array(claimed), (sender, forwardedFor) => {
        const request = {
          socket: { remoteAddress: sender },
          headers: { 'x-forwarded-for': forwardedFor.join(',') },
        };
        expect(clientAddress(request as never, [])).toBe(sender);
      }),
    );
  });
});

describe('an IPv6 sender', () => {
  test('is identified by its network', () => {
    const half = fc.array(fc.nat(0xffff), { minLength: 4, maxLength: 4 });
    const written = (parts: number[]) => parts.map((part) => part.toString(16)).join(':');
    fc.assert(
      fc.property(half, half, half, (network, one, other) => {
        const [first, second] = [one, other].map((host) => `${written(network)}:${written(host)}`);
        expect(networkOf(first ?? '')).toBe(networkOf(second ?? ''));
        expect(networkOf(first ?? '')).toBe(`${written(network)}::/64`);
      }),
    );
  });

  test.each([
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['fe80::1%eth0.1', 'fe80:0:0:0::/64'],
    ['203.0.113.7', '203.0.113.7'],
    ['0xcb.0.113.7', '0xcb.0.113.7'],
    ['unknown', 'unknown'],
  ])('is identified by its network: %s', (address, network) =>
    expect(networkOf(address)).toBe(network),
  );
});

describe('the list of trusted proxies', () => {
  test.each([
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    'fd00::/129',
    '10.0.0',
    '10',
    '012.0.0.0/8',
    '',
  ])('refuses %j', (network) => expect(() => parseProxies([network])).toThrow(ConfigError));
});

describe('failures', () => {
  test('are counted per sender for a minute', () => {
    const failures = new FailureLimiter(3);
    for (let at = 0; at < 3; at++) {
      expect(failures.waitSeconds('a', 1_000 + at)).toBe(0);
      failures.count('a', 1_000 + at);
    }
    expect(failures.waitSeconds('a', 2_000)).toBe(59);
    expect(failures.waitSeconds('b', 2_000)).toBe(0);
    expect(failures.waitSeconds('a', 61_000)).toBe(0);
    failures.count('a', 61_000);
    expect(failures.waitSeconds('a', 61_001)).toBe(0);
  });

  test('of many new senders do not unblock a blocked sender', () => {
    const failures = new FailureLimiter(1);
    for (let at = 0; at < 9_999; at++) failures.count(`early ${at}`, 0);
    failures.count('late', 1);
    for (let at = 0; at < 9_000; at++) failures.count(`other ${at}`, 2);
    expect(failures.waitSeconds('late', 3)).toBeGreaterThan(0);
  });
});
