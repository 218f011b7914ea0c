import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GuessLimiter, guessLimiter } from '../../src/hosts/access/gate.ts';
import { clientAddress, networkOf, parseNetworks } from '../../src/hosts/access/networks.ts';
import { InvalidValue } from '../../src/setting-values.ts';
import fc from '../support/fast-check.ts';

const trusted = parseNetworks(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);

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
    expect(from('10.0.0.1', '::FFFF:203.0.113.7')).toBe('203.0.113.7');
    expect(from('10.0.0.1', '203.0.113.7 , 10.0.0.2')).toBe('203.0.113.7');
    expect(from('10.0.0.1', '')).toBe('10.0.0.1');
    expect(from(undefined, '203.0.113.7')).toBe('unknown');
    expect(from('fe80::1%eth0', '203.0.113.7')).toBe('fe80::1%eth0');
  });

  test('is always the peer where no proxies are trusted', () => {
    fc.assert(
      fc.property(fc.oneof(proxy, outside), fc.array(claimed), (sender, forwardedFor) => {
        const request = {
          socket: { remoteAddress: sender },
          headers: { 'x-forwarded-for': forwardedFor.join(',') },
        };
        expect(clientAddress(request as never, parseNetworks([]))).toBe(sender);
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
        const { hostname } = new URL(`http://[${written(network)}::]`);
        expect(networkOf(first ?? '')).toBe(`${hostname.slice(1, -1)}/64`);
      }),
    );
  });

  test.each([
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:0DB8:0000::1', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['fe80::1%eth0.1', 'fe80::/64'],
    ['203.0.113.7', '203.0.113.7'],
    ['0xcb.0.113.7', '0xcb.0.113.7'],
    ['unknown', 'unknown'],
  ])('is identified by its network: %s', (address, network) =>
    expect(networkOf(address)).toBe(network),
  );
});

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
])('the list of trusted proxies refuses %j', (network) =>
  expect(() => parseNetworks([network])).toThrow(InvalidValue),
);

describe('wrong credentials', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const tooMany = expect.objectContaining({ status: 429 });
  const countTimes = (guesses: GuessLimiter, sender: string, times: number) => {
    for (let at = 0; at < times; at++) guesses.count(sender);
  };

  test('are counted per sender for a minute', () => {
    const guesses = guessLimiter(parseNetworks([]));
    countTimes(guesses, 'a', 29);
    expect(() => guesses.check('a')).not.toThrow();
    vi.advanceTimersByTime(10_000);
    guesses.count('a');
    expect(() => guesses.check('a')).toThrow(tooMany);
    expect(() => guesses.check('b')).not.toThrow();
    vi.advanceTimersByTime(52_000);
    expect(() => guesses.check('a')).not.toThrow();
  });

  test('are counted by the network, whatever a sender claims where no proxy is trusted', () => {
    const guesses = guessLimiter(parseNetworks([]));
    const senderOf = (remoteAddress: string, forwarded = '') =>
      guesses.senderOf({
        socket: { remoteAddress },
        headers: { 'x-forwarded-for': forwarded },
      } as never);
    for (let at = 0; at < 30; at++)
      guesses.count(senderOf(`2001:db8:0:7::${at.toString(16)}`, `203.0.113.${at}`));
    expect(() => guesses.check(senderOf('2001:db8:0:7:ffff::1', '198.51.100.1'))).toThrow(tooMany);
    expect(() => guesses.check(senderOf('2001:db8:0:8::1'))).not.toThrow();
  });

  test('of many new senders do not unblock a blocked sender', () => {
    const guesses = guessLimiter(parseNetworks([]));
    for (let at = 0; at < 9_999; at++) guesses.count(`early ${at}`);
    countTimes(guesses, 'late', 30);
    for (let at = 0; at < 9_000; at++) guesses.count(`other ${at}`);
    expect(() => guesses.check('late')).toThrow(tooMany);
  });
});
