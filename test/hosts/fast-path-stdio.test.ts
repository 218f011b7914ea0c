import { describe, expect, test, vi } from 'vitest';
import { LineConnection } from '../../src/hosts/stdio.ts';
import { connectSdk } from '../../src/hosts/stdio-sdk.ts';
import fc from '../support/fast-check.ts';
import { type CountedServer, countedServer, withoutTimes } from '../support/fast-path-parity.ts';
import { envelope, handshake, message } from '../support/fast-path-requests.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { newFolder, shared } from '../support/shared.ts';
import { soon } from '../support/until.ts';

const folder = shared(async () => newFolder());
const server = shared(async () => {
  const sandbox = await startSandbox({ scale: 0.1 });
  return countedServer(addressIn(sandbox, 'all'), await folder());
});

/** The server's side of a connection, with the lines that it wrote. */
interface Side {
  written: Row[];
  take(line: string): void;
  close(): Promise<void>;
}

function ourSide({ endpoint: served }: CountedServer, fastPath = true): Side {
  const written: Row[] = [];
  const connection = new LineConnection(served, {
    fastPath,
    write: (line) => written.push(JSON.parse(line)),
    onError: () => {},
    onClose: () => {},
  });
  return {
    written,
    take: (line) => connection.receive(line),
    close: () => connection.close(),
  };
}

function sdkSide({ endpoint: served }: CountedServer): Side {
  const written: Row[] = [];
  const connection = connectSdk(() => served.server(), {
    opening: [],
    write: (it) => written.push(JSON.parse(JSON.stringify(it))),
    onError: () => {},
    onClose: () => {},
  });
  const take = (line: string) => {
    try {
      connection.receive(line);
    } catch {
      // Not a message: LineConnection ignores or reports it.
    }
  };
  return { written, take, close: () => connection.close() };
}

const idsIn = (lines: readonly string[]): unknown[] =>
  lines.flatMap((line) => {
    const id = /"id":(\d+)/.exec(line)?.[1];
    return id === undefined || /"result"/.test(line) ? [] : [Number(id)];
  });

/** Sends the lines. @returns the answers, in the order of the requests */
async function talk(side: Side, lines: readonly string[]): Promise<string[]> {
  const ids = idsIn(lines);
  for (const line of lines) {
    side.take(line);
    await answered(side, idsIn([line]));
  }
  await side.close();
  return ids.map((id) => withoutTimes(JSON.stringify(side.written.find((it) => it.id === id))));
}

async function answered({ written }: Side, ids: readonly unknown[]): Promise<void> {
  const isAnswered = (id: unknown) => written.some((it) => it.id === id);
  await vi.waitUntil(() => ids.every(isAnswered), { ...soon, interval: 1 });
}

const line = (row: Row): string => JSON.stringify(row);
const older = (method: string, params?: Row) => (id: number) => line(message(method, params, id));
const newer = (method: string, params: Row = {}) => older(method, { ...params, _meta: envelope });
const note = (method: string, params?: Row) => () =>
  line({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
type Line = (id: number) => string;

const list = { name: 'cpq_list_quotes', arguments: { size: 2 } };
const openOlder: Line[] = [older('initialize', handshake), note('notifications/initialized')];
const openNewer: Line[] = [newer('server/discover')];
const known: Record<string, Line> = {
  'older ping': older('ping'),
  'older list': older('tools/list'),
  'older prompts': older('prompts/list'),
  'older call': older('tools/call', list),
  'older call of an unknown tool': older('tools/call', { name: 'cpq_unknown' }),
  'older prompt': older('prompts/get', { name: 'unknown' }),
  'older resource': older('resources/read', { uri: 'cpq://definitions' }),
  'older unknown method': older('tools/unknown'),
  'older handshake': older('initialize', handshake),
  'older handshake with an icon': older('initialize', {
    ...handshake,
    clientInfo: { name: 'test', version: '1', icons: [{ src: 'data:,' }] },
  }),
  'newer discovery': newer('server/discover'),
  'newer list': newer('tools/list'),
  'newer call': newer('tools/call', list),
  'newer unknown method': newer('tools/unknown'),
  'newer resource': newer('resources/read', { uri: 'cpq://definitions' }),
  'newer wrong envelope': older('tools/list', {
    _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': 1 },
  }),
  'another revision': older('tools/list', {
    _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
  }),
  'end of the handshake': note('notifications/initialized'),
  'cancelling nothing': note('notifications/cancelled', { requestId: 999 }),
  'an unknown note': note('notifications/unknown'),
  'not JSON': () => '{"jsonrpc"',
  'not a message': () => '{"jsonrpc":"2.0"}',
  'an empty line': () => '',
  'a batch': () => '[]',
};

const numbered = (lines: readonly Line[]): string[] => lines.map((it, at) => it(at + 1));

async function expectSame(lines: readonly Line[]): Promise<void> {
  const counted = await server();
  const asSdk = await talk(sdkSide(counted), numbered(lines));
  expect(await talk(ourSide(counted), numbered(lines))).toEqual(asSdk);
}

describe('a connection', () => {
  test.each([
    ['of the older era', openOlder],
    ['of the newer era', openNewer],
    ['that was not opened', []],
  ])('%s is answered as by the SDK', async (_, opening) => {
    for (const it of Object.values(known)) await expectSame([...opening, it]);
    await expectSame([...opening, ...Object.values(known)]);
  });

  test.each([
    [
      'older',
      [...openOlder, older('tools/list'), older('prompts/list'), older('tools/call', list)],
    ],
    [
      'newer',
      [...openNewer, newer('tools/list'), newer('prompts/list'), newer('tools/call', list)],
    ],
  ])('of the %s era needs no SDK for usual requests', async (_, lines) => {
    const counted = await server();
    const before = counted.createdServers();
    await talk(ourSide(counted), numbered(lines));
    expect(counted.createdServers()).toBe(before);
  });

  test('uses the SDK from the start when the fast path is off', async () => {
    const counted = await server();
    const before = counted.createdServers();
    await talk(ourSide(counted, false), numbered([...openOlder, older('tools/list')]));
    expect(counted.createdServers()).toBe(before + 1);
  });

  test('answers requests in any order as the SDK does', async () => {
    const opening = fc.constantFrom(openOlder, openNewer, []);
    const lines = fc.array(fc.constantFrom(...Object.values(known)), { maxLength: 6 });
    const property = fc.asyncProperty(opening, lines, (first, rest) =>
      expectSame([...first, ...rest]),
    );
    await fc.assert(property, { numRuns: quickOrAll(100, 600) });
  });
});

test('a call whose tenant cannot be opened is answered with an error, and lists still work', async () => {
  const { endpoint } = await server();
  const callParts = () => Promise.reject(new Error('a file of this server is missing'));
  const side = ourSide({ endpoint: { ...endpoint, callParts }, createdServers: () => 0 });
  const [, called, listed] = await talk(
    side,
    numbered([...openOlder, older('tools/call', list), older('tools/list')]),
  );
  expect(called).toContain('"error":{"code":-32603,"message":"Internal error"}');
  expect(listed).toContain('"tools":[');
});

test('a line that is no message leaves nothing to answer', async () => {
  const { endpoint } = await server();
  const quiet = { write: () => {}, onError: () => {}, onClose: () => {} };
  const connection = new LineConnection(endpoint, { fastPath: true, ...quiet });
  connection.receive('{"id":1,"method":"ping"}');
  await connection.answered();
  await connection.close();
});

describe('a request over stdio', () => {
  const progressing = { name: 'cpq_brief_pipeline', arguments: {}, _meta: { progressToken: 'p' } };

  test('reports its progress', async () => {
    const side = ourSide(await server());
    await talk(side, numbered([...openOlder, older('tools/call', progressing)]));
    const progress = side.written.filter(({ method }) => method === 'notifications/progress');
    expect(progress.length).toBeGreaterThan(0);
    expect(progress[0]).toMatchObject({ jsonrpc: '2.0', params: { progressToken: 'p' } });
  });

  test.each<[string, Row?]>([['tools/call', list], ['tools/list']])(
    'is not answered if it was cancelled: %s',
    async (method, params) => {
      const side = ourSide(await server());
      for (const it of numbered(openOlder)) side.take(it);
      side.take(older(method, params)(7));
      side.take(note('notifications/cancelled', { requestId: 7 })());
      side.take(older('tools/call', list)(8));
      await answered(side, [8]);
      await side.close();
      expect(side.written.filter(({ id }) => id === 7)).toEqual([]);
    },
  );
});
