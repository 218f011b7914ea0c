import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { legacyRevisions } from '../../src/mcp/identity.ts';
import fc from '../support/fast-check.ts';
import {
  countedServer,
  messageIn,
  type Reply,
  type Sent,
  send,
  serveWithFastPath,
  serveWithSdk,
} from '../support/fast-path-parity.ts';
import { fastPathRequests, sdkRequests } from '../support/fast-path-requests.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { newFolder, shared } from '../support/shared.ts';

const folder = shared(async () => newFolder());

const servers = shared(async () => {
  const sandbox = await startSandbox({ scale: 0.1 });
  const counted = await countedServer(addressIn(sandbox, 'all'), await folder());
  const [ours, sdk] = [await serveWithFastPath(counted), await serveWithSdk(counted)];
  return { ours, sdk, made: counted.createdServers };
});

/** Sends the same request to both. `made`: servers of the SDK that ours made for it. */
async function bothWays(sent: Sent): Promise<{ ours: Reply; sdk: Reply; made: number }> {
  const servings = await servers();
  const sdk = await send(servings.sdk, sent);
  const before = servings.made();
  const ours = await send(servings.ours, sent);
  return { sdk, ours, made: servings.made() - before };
}

function expectSame({ ours, sdk }: { ours: Reply; sdk: Reply }): void {
  expect(ours.status).toBe(sdk.status);
  expect(messageIn(ours)).toBe(messageIn(sdk));
}

test.each(Object.entries(fastPathRequests))(
  'a request of the fast path: %s: answered without the SDK, with the same bytes',
  async (_, sent) => {
    const answers = await bothWays(sent);
    expectSame(answers);
    const { ours, made } = answers;
    expect([ours.status, ours.headers['content-type'], made]).toEqual([200, 'application/json', 0]);
  },
);

test('every request is answered by the SDK when the fast path is off', async () => {
  const sandbox = await startSandbox({ scale: 0.1 });
  const counted = await countedServer(addressIn(sandbox, 'all'), await folder());
  const url = await serveWithFastPath(counted, false);
  for (const sent of Object.values(fastPathRequests)) {
    const before = counted.createdServers();
    expect((await send(url, sent)).status).toBe(200);
    expect(counted.createdServers()).toBe(before + 1);
  }
});

test.each(Object.entries(sdkRequests))(
  'any other request: %s: answered as by the SDK',
  async (_, sent) => {
    expectSame(await bothWays(sent));
  },
);

test('the protocol revisions with a handshake are those of the SDK', () => {
  expect(legacyRevisions).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
});

/** Values that replace parts of a request. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, true, 0, -1, 1.5, 2 ** 60, '', 'x', [], {}, [{}]),
  fc.constantFrom<unknown>('2025-06-18', '2026-07-28', 'tools/list', 'tools/call', { x: 1 }),
);
const places = [
  ...['jsonrpc', 'id', 'method', 'params', 'more'],
  ...['params name', 'params arguments', 'params protocolVersion', 'params cursor'],
  ...['params capabilities', 'params capabilities elicitation', 'params capabilities roots'],
  ...['params clientInfo', 'params clientInfo title'],
  ...['params _meta', 'params _meta progressToken', 'params _meta x'],
  'params _meta io.modelcontextprotocol/protocolVersion',
  'params _meta io.modelcontextprotocol/clientInfo',
  'params _meta io.modelcontextprotocol/clientCapabilities',
  'params _meta io.modelcontextprotocol/clientCapabilities elicitation',
  'params _meta io.modelcontextprotocol/clientCapabilities extensions',
  'params _meta io.modelcontextprotocol/logLevel',
].map((path) => path.split(' '));
const headers = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

const change = fc.oneof(
  fc.record({ at: fc.constantFrom(...places), value: junk }),
  fc.record({ header: fc.constantFrom(...headers), value: fc.constantFrom('', 'x', '2025-06-18') }),
);
type Change = { at: string[]; value: unknown } | { header: string; value: string };

function changed(sent: Sent, changes: readonly Change[]): Sent {
  const body = JSON.parse(sent.body) as Row;
  const all = { ...sent.headers };
  for (const change of changes) {
    if ('header' in change) all[change.header] = change.value;
    else put(body, change.at, change.value);
  }
  return { ...sent, headers: all, body: JSON.stringify(body) };
}

/** Sets a nested value where the path exists. */
function put(row: Row, [name = '', ...rest]: readonly string[], value: unknown): void {
  const inner = row[name];
  if (rest.length === 0) row[name] = structuredClone(value);
  else if (typeof inner === 'object' && inner !== null) put(inner as Row, rest, value);
}

test('a malformed request is answered as by the SDK', async () => {
  const request = fc.constantFrom(...Object.values(fastPathRequests));
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(request, changes, async (sent, all) => {
    expectSame(await bothWays(changed(sent, all as Change[])));
  });
  await fc.assert(property, { numRuns: quickOrAll(100, 600) });
});
