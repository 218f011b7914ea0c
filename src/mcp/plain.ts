/**
 * Requests that are what they should be. Nearly all are; they can be told by their shape, without the
 * schemas of the whole protocol. Whatever differs in anything, be it right or wrong, is left to the SDK.
 */
export type Row = Record<string, unknown>;
export type Era = 'legacy' | 'modern';

/** The newer era has one revision so far; the older ones are opened by a handshake. */
export const modernRevision = '2026-07-28';
export const legacyRevisions: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

const reserved = 'io.modelcontextprotocol/';
export const metaKeys = {
  revision: `${reserved}protocolVersion`,
  client: `${reserved}clientInfo`,
  capabilities: `${reserved}clientCapabilities`,
  server: `${reserved}serverInfo`,
} as const;

export interface PlainRequest {
  id: string | number;
  method: string;
  era: Era;
  params: Row;
  /** Who asks, where the request says so. */
  client?: Client;
  progressToken?: string | number;
}

export interface Client {
  name: string;
  version: string;
}

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value);

/** Whether it has no field but these. */
const hasOnly = (row: Row, names: readonly string[]): boolean => {
  for (const name in row) if (!names.includes(name)) return false;
  return true;
};

const none: readonly string[] = [];
/** What each may be given, apart from `_meta`. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  initialize: ['protocolVersion', 'capabilities', 'clientInfo'],
  ping: none,
  'server/discover': none,
  'tools/list': none,
  'tools/call': ['name', 'arguments'],
  'resources/list': none,
  'resources/templates/list': none,
  'prompts/list': none,
};
const ofOneEra: Readonly<Record<string, Era>> = {
  initialize: 'legacy',
  ping: 'legacy',
  'server/discover': 'modern',
};

/** The request, if it is a plain one. */
export function plainRequest(message: unknown): PlainRequest | undefined {
  if (!isRow(message) || !hasOnly(message, ['jsonrpc', 'id', 'method', 'params'])) return undefined;
  const { jsonrpc, id, method, params = {} } = message;
  if (jsonrpc !== '2.0' || !isId(id) || typeof method !== 'string' || !isRow(params)) {
    return undefined;
  }
  const known = Object.hasOwn(parameters, method) ? parameters[method] : undefined;
  if (!known || !hasOnly(params, ['_meta', ...known]) || !areFit(method, params)) return undefined;
  const read = readMeta(params._meta);
  if (!read || (ofOneEra[method] ?? read.era) !== read.era) return undefined;
  return { id, method, params, ...read };
}

function areFit(method: string, { name, arguments: args, ...others }: Row): boolean {
  if (method === 'tools/call') {
    return typeof name === 'string' && (args === undefined || isRow(args));
  }
  if (method !== 'initialize') return true;
  const { protocolVersion, capabilities, clientInfo } = others;
  return (
    legacyRevisions.includes(String(protocolVersion)) &&
    areUsual(capabilities) &&
    clientFrom(clientInfo) !== undefined
  );
}

type Meta = Pick<PlainRequest, 'era' | 'client' | 'progressToken'>;

/** What `_meta` says of the request; nothing where it says what is not usual. */
function readMeta(meta: unknown): Meta | undefined {
  if (meta === undefined) return { era: 'legacy' };
  if (!isRow(meta)) return undefined;
  const { progressToken } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return undefined;
  const read = metaKeys.revision in meta ? readEnvelope(meta) : readNotes(meta);
  return read && progressToken !== undefined ? { ...read, progressToken } : read;
}

/** Notes of the host's own, as many add in the older era. */
function readNotes(meta: Row): Meta | undefined {
  for (const name in meta) if (name.startsWith(reserved)) return undefined;
  return { era: 'legacy' };
}

const envelope: readonly string[] = [metaKeys.revision, metaKeys.client, metaKeys.capabilities];

function readEnvelope(meta: Row): Meta | undefined {
  for (const name in meta) {
    if (name.startsWith(reserved) && !envelope.includes(name)) return undefined;
  }
  const usual = meta[metaKeys.revision] === modernRevision && areUsual(meta[metaKeys.capabilities]);
  if (!usual) return undefined;
  if (meta[metaKeys.client] === undefined) return { era: 'modern' };
  const client = clientFrom(meta[metaKeys.client]);
  return client && { era: 'modern', client };
}

/** Every capability is a record of records; nothing more of it matters to a request that only reads. */
function areUsual(capabilities: unknown): boolean {
  if (!isRow(capabilities)) return false;
  return Object.entries(capabilities).every(
    ([name, value]) => isRow(value) && isUsual(name, value),
  );
}

function isUsual(name: string, value: Row): boolean {
  switch (name) {
    case 'roots':
      return (
        hasOnly(value, ['listChanged']) &&
        ['boolean', 'undefined'].includes(typeof value.listChanged)
      );
    case 'elicitation':
      return Object.values(value).every((inner) => isRow(inner) && hasOnly(inner, none));
    case 'sampling':
    case 'experimental':
    case 'extensions':
      return Object.values(value).every(isRow);
    default:
      return false;
  }
}

const ofClient = ['name', 'version', 'title', 'websiteUrl', 'description'];

function clientFrom(info: unknown): Client | undefined {
  if (!isRow(info) || !hasOnly(info, ofClient)) return undefined;
  const { name, version } = info;
  const texts = Object.values(info).every((value) => typeof value === 'string');
  return texts && typeof name === 'string' && typeof version === 'string'
    ? { name, version }
    : undefined;
}
