import { legacyRevisions, metaKeys, modernRevision, reservedPrefix } from '../mcp/identity.ts';
import { fieldOf, isObject, type JsonObject } from '../values.ts';

/**
 * Recognises the requests that the fast path answers by their exact shape, without the schemas of the
 * protocol. Any deviation, valid or not, is left to the SDK.
 */

export type Era = 'legacy' | 'modern';

export interface FastRequest {
  id: string | number;
  method: string;
  era: Era;
  params: JsonObject;
  progressToken: string | number | undefined;
}

const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value);

function hasOnly(object: JsonObject, names: readonly string[]): boolean {
  for (const name in object) if (!names.includes(name)) return false;
  return true;
}

const clientFields = ['name', 'version', 'title', 'websiteUrl', 'description'];

const isClient = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.name === 'string' &&
  typeof value.version === 'string' &&
  hasOnly(value, clientFields) &&
  Object.values(value).every((field) => typeof field === 'string');

/** Objects of objects, or of flags. They do not affect the requests that are answered here. */
const areCapabilities = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, capability]) =>
      isObject(capability) &&
      Object.values(capability).every((field) =>
        name === 'roots' ? typeof field === 'boolean' : isObject(field),
      ),
  );

/** The request, if the fast path knows its kind. */
export function readRequest(message: unknown): FastRequest | undefined {
  if (!isObject(message) || message.jsonrpc !== '2.0') return undefined;
  const { id, method, params = {} } = message;
  if (!isId(id) || typeof method !== 'string' || !isObject(params)) return undefined;
  if (!hasOnly(message, ['jsonrpc', 'id', 'method', 'params'])) return undefined;
  const { _meta: meta } = params;
  const era = eraOf(meta);
  if (!era || !isAnswered(method, era, params)) return undefined;
  const progressToken = fieldOf(meta, 'progressToken');
  return {
    id,
    method,
    params,
    era,
    progressToken: isId(progressToken) ? progressToken : undefined,
  };
}

/** Whether the method is answered in this era, with these parameters. */
function isAnswered(method: string, era: Era, params: JsonObject): boolean {
  switch (method) {
    case 'tools/call':
      return (
        typeof params.name === 'string' &&
        (params.arguments === undefined || isObject(params.arguments)) &&
        hasOnly(params, ['name', 'arguments', '_meta'])
      );
    case 'initialize':
      return (
        era === 'legacy' &&
        legacyRevisions.includes(String(params.protocolVersion)) &&
        areCapabilities(params.capabilities) &&
        isClient(params.clientInfo) &&
        hasOnly(params, ['protocolVersion', 'capabilities', 'clientInfo', '_meta'])
      );
    case 'ping':
      return era === 'legacy' && hasOnly(params, ['_meta']);
    case 'server/discover':
      return era === 'modern' && hasOnly(params, ['_meta']);
    default:
      return lists.includes(method) && hasOnly(params, ['_meta']);
  }
}

const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];

/** The era of the request, by `_meta`; `undefined` if `_meta` has an unknown form. */
function eraOf(meta: unknown): Era | undefined {
  if (meta === undefined) return 'legacy';
  if (!isObject(meta) || !(meta.progressToken === undefined || isId(meta.progressToken)))
    return undefined;
  // Other fields belong to the host.
  const ofProtocol = Object.keys(meta).filter((name) => name.startsWith(reservedPrefix));
  if (ofProtocol.length === 0) return 'legacy';
  const { revision, capabilities, client } = metaKeys;
  const own: readonly string[] = [revision, capabilities, client];
  const isModern =
    meta[revision] === modernRevision &&
    areCapabilities(meta[capabilities]) &&
    (meta[client] === undefined || isClient(meta[client])) &&
    ofProtocol.every((name) => own.includes(name));
  return isModern ? 'modern' : undefined;
}
