import type { Sent } from './fast-path-parity.ts';
import type { Row } from './hosts.ts';

const accept = 'application/json, text/event-stream';
export const legacyHeaders = {
  'content-type': 'application/json',
  accept,
  'mcp-protocol-version': '2025-11-25',
};
export const envelope: Row = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

export const message = (method: string, params?: Row, id: unknown = 7): Row =>
  params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };

function modernHeaders(method: string, name?: unknown): Record<string, string> {
  const named = typeof name === 'string' ? { 'mcp-name': name } : {};
  return {
    'content-type': 'application/json',
    accept,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...named,
  };
}

export const legacy = (method: string, params?: Row, id?: unknown): Sent => ({
  headers: legacyHeaders,
  body: JSON.stringify(message(method, params, id)),
});

const modern = (method: string, params: Row = {}, id?: unknown): Sent => ({
  headers: modernHeaders(method, params.name),
  body: JSON.stringify(
    message(method, { ...params, _meta: { ...envelope, ...(params._meta as Row) } }, id),
  ),
});

export const handshake: Row = {
  protocolVersion: '2025-11-25',
  capabilities: { roots: { listChanged: true }, elicitation: {}, sampling: {} },
  clientInfo: { name: 'test', version: '1', title: 'Test' },
};

const list = { name: 'cpq_list_opportunities', arguments: { size: 3 } };
const trace = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'one=1',
};
const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];

/** The usual requests of hosts in both eras, by name. */
export const fastPathRequests: Readonly<Record<string, Sent>> = {
  ...Object.fromEntries(
    lists.flatMap((name) => [
      [`${name}, legacy`, legacy(name)],
      [`${name} with empty params, legacy`, legacy(name, {})],
      [`${name}, modern`, modern(name)],
    ]),
  ),
  'initialize, legacy': legacy('initialize', handshake, 0),
  ...Object.fromEntries(
    ['2024-11-05', '2025-03-26', '2025-06-18'].map((protocolVersion) => [
      `initialize of ${protocolVersion}`,
      legacy('initialize', { ...handshake, protocolVersion, capabilities: {} }),
    ]),
  ),
  'ping, legacy': legacy('ping'),
  'server/discover, modern': modern('server/discover'),
  'a call, legacy': legacy('tools/call', list),
  'a call without a version header, legacy': {
    ...legacy('tools/call', list),
    headers: { 'content-type': 'application/json', accept },
  },
  'a call with notes of the host, legacy': legacy('tools/call', {
    ...list,
    _meta: { 'host.example/use': 'x' },
  }),
  'a call with a trace, legacy': legacy('tools/call', { ...list, _meta: trace }),
  'a call with a trace, modern': modern('tools/call', { ...list, _meta: trace }),
  'a call with a trace that is none, legacy': legacy('tools/call', {
    ...list,
    _meta: { traceparent: 7, tracestate: {} },
  }),
  'a call, modern': modern('tools/call', list),
  'a call with a text as its id, modern': modern('tools/call', list, 'seven "7" ü'),
  'a call of a tree, modern': modern('tools/call', { name: 'cpq_get_category_tree' }),
  'a brief, legacy': legacy('tools/call', { name: 'cpq_brief_pipeline', arguments: {} }),
  'a call that is refused, legacy': legacy('tools/call', {
    ...list,
    arguments: { size: 'many', pages: 2 },
  }),
  'a call that is refused, modern': modern('tools/call', {
    ...list,
    arguments: { size: 100_000 },
  }),
  'a record that is not there, modern': modern('tools/call', {
    name: 'cpq_get_record',
    arguments: { resource: 'company', id: 'nobody' },
  }),
};

const withMeta = (more: Row): Sent => ({
  headers: modernHeaders('tools/call', list.name),
  body: JSON.stringify(message('tools/call', { ...list, _meta: { ...envelope, ...more } })),
});
const withHeaders = (sent: Sent, headers: Record<string, string>): Sent => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
});
const without = (sent: Sent, header: string): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).filter(([name]) => name !== header)),
});
const call = modern('tools/call', list);
const olderCall = legacy('tools/call', list);

/** Requests that the fast path must leave to the SDK, valid or not. */
export const sdkRequests: Readonly<Record<string, Sent>> = {
  'no body': { headers: legacyHeaders, body: '' },
  'not JSON': { headers: legacyHeaders, body: '{"jsonrpc":' },
  'JSON behind a byte order mark': { ...olderCall, body: `\uFEFF${olderCall.body}` },
  'another content type': withHeaders(olderCall, { 'content-type': 'text/plain' }),
  'a content type with a charset': withHeaders(call, {
    'content-type': 'application/json; charset=utf-8',
  }),
  'nothing accepted': without(olderCall, 'accept'),
  'only JSON accepted, legacy': withHeaders(olderCall, { accept: 'application/json' }),
  'only JSON accepted, modern': withHeaders(call, { accept: 'application/json' }),
  'an unknown version, legacy': withHeaders(olderCall, { 'mcp-protocol-version': '1999-01-01' }),
  'a response': { headers: legacyHeaders, body: '{"jsonrpc":"2.0","id":1,"result":{}}' },
  'a notification': {
    headers: legacyHeaders,
    body: '{"jsonrpc":"2.0","method":"notifications/x"}',
  },
  'the end of the handshake': {
    headers: legacyHeaders,
    body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  },
  'an unknown method, legacy': legacy('tools/unknown'),
  'an unknown method, modern': modern('tools/unknown'),
  'ping, modern': modern('ping'),
  'initialize, modern': modern('initialize', handshake),
  'server/discover, legacy': legacy('server/discover'),
  'an unknown tool, legacy': legacy('tools/call', { name: 'cpq_unknown' }),
  'an unknown tool, modern': modern('tools/call', { name: 'cpq_unknown' }),
  'a tool that writes, legacy': legacy('tools/call', { name: 'cpq_upsert_opportunity' }),
  'a tool that writes, modern': modern('tools/call', { name: 'cpq_upsert_opportunity' }),
  'a prompt, modern': modern('prompts/get', { name: 'unknown' }),
  'a call without a name': legacy('tools/call', { arguments: {} }),
  'a call with a list of arguments': legacy('tools/call', { ...list, arguments: [1] }),
  'a call as a task': legacy('tools/call', { ...list, task: { ttl: 1 } }),
  'params that are a list': {
    headers: legacyHeaders,
    body: JSON.stringify({ ...message('ping'), params: [] }),
  },
  'a cursor': legacy('tools/list', { cursor: 'x' }),
  'initialize of an unknown version': legacy('initialize', {
    ...handshake,
    protocolVersion: '1999-01-01',
  }),
  'initialize with an icon': legacy('initialize', {
    ...handshake,
    clientInfo: { name: 'test', version: '1', icons: [{ src: 'data:,' }] },
  }),
  'initialize without capabilities': legacy('initialize', {
    protocolVersion: '2025-11-25',
    clientInfo: { name: 'test', version: '1' },
  }),
  'an id that is null': legacy('ping', undefined, null),
  'an id with a fraction': legacy('ping', undefined, 1.5),
  'another field': {
    headers: legacyHeaders,
    body: JSON.stringify({ ...message('ping'), more: 1 }),
  },
  'another JSON-RPC': {
    headers: legacyHeaders,
    body: JSON.stringify({ ...message('ping'), jsonrpc: '1.0' }),
  },
  'an envelope with the older header': { ...call, headers: legacyHeaders },
  'no envelope with the newer header': { ...call, body: olderCall.body },
  'no version header, modern': without(call, 'mcp-protocol-version'),
  'no method header, modern': without(call, 'mcp-method'),
  'no name header, modern': without(call, 'mcp-name'),
  'another method header, modern': withHeaders(call, { 'mcp-method': 'tools/list' }),
  'another name header, modern': withHeaders(call, { 'mcp-name': 'cpq_list_quotes' }),
  'an encoded name header, modern': withHeaders(call, {
    'mcp-name': `=?base64?${Buffer.from(list.name).toString('base64')}?=`,
  }),
  'an unknown revision': withMeta({ 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
  'capabilities that are none': withMeta({ 'io.modelcontextprotocol/clientCapabilities': 1 }),
  'a capability that is none': withMeta({
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: true } },
  }),
  'a client without a version': withMeta({ 'io.modelcontextprotocol/clientInfo': { name: 'x' } }),
  'a client with an icon': withMeta({
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1', icons: [{ src: 'data:,' }] },
  }),
  'a level of logging': withMeta({ 'io.modelcontextprotocol/logLevel': 'info' }),
  'an unknown key of the protocol': withMeta({ 'io.modelcontextprotocol/unknown': 1 }),
  'a request for progress': withMeta({ progressToken: 'p' }),
  'a request for progress with an invalid token': withMeta({ progressToken: { p: 1 } }),
};
