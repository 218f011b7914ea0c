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
  /** The client, if the request names it. */
  client: ClientInfo | undefined;
  progressToken: string | number | undefined;
}

export interface ClientInfo {
  name: string;
  version: string;
}

type Predicate = (value: unknown) => boolean;

const isText: Predicate = (value) => typeof value === 'string';
const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value);
const objectOf =
  (predicate: Predicate): Predicate =>
  (value) =>
    isObject(value) && Object.values(value).every(predicate);
type Predicates = Readonly<Record<string, Predicate>>;
/** An object with the required fields, optionally the others, and no further ones. */
const objectWith = <T extends object>(required: Predicates, others: Predicates = {}) => {
  const known = new Map(Object.entries({ ...others, ...required }));
  const needed = Object.keys(required);
  return (value: unknown): value is T =>
    isObject(value) &&
    needed.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, field]) => known.get(name)?.(field) === true);
};

export const isClient = objectWith<ClientInfo>(
  { name: isText, version: isText },
  { title: isText, websiteUrl: isText, description: isText },
);
/** Others do not affect the requests that are answered here. */
const areCapabilities = objectWith(
  {},
  {
    roots: objectWith({}, { listChanged: (value) => typeof value === 'boolean' }),
    elicitation: objectOf(objectWith({})),
    sampling: objectOf(isObject),
    experimental: objectOf(isObject),
    extensions: objectOf(isObject),
  },
);
const revision: Predicate = (value) => value === modernRevision;
const isEnvelope = objectWith(
  { [metaKeys.revision]: revision, [metaKeys.capabilities]: areCapabilities },
  { [metaKeys.client]: isClient },
);

/** `_meta` is checked by `eraOf`, for all methods. */
const meta: Predicates = { _meta: () => true };
const noParameters = objectWith({}, meta);

const handshake: Predicates = {
  protocolVersion: (value) => legacyRevisions.includes(String(value)),
  capabilities: areCapabilities,
  clientInfo: isClient,
};

/** The methods that are answered: in which era, if only in one, and with which parameters. */
const methods: Readonly<Record<string, { era?: Era; params: Predicate }>> = {
  initialize: { era: 'legacy', params: objectWith(handshake, meta) },
  ping: { era: 'legacy', params: noParameters },
  'server/discover': { era: 'modern', params: noParameters },
  'tools/list': { params: noParameters },
  'tools/call': { params: objectWith({ name: isText }, { arguments: isObject, ...meta }) },
  'resources/list': { params: noParameters },
  'resources/templates/list': { params: noParameters },
  'prompts/list': { params: noParameters },
};

const isMethod: Predicate = (value) => typeof value === 'string' && Object.hasOwn(methods, value);
const isRequest = objectWith<Pick<FastRequest, 'id' | 'method'> & { params?: JsonObject }>(
  { jsonrpc: (value) => value === '2.0', id: isId, method: isMethod },
  { params: isObject },
);

/** The request, if the fast path knows its kind. */
export function readRequest(message: unknown): FastRequest | undefined {
  if (!isRequest(message)) return undefined;
  const { id, method, params = {} } = message;
  const known = methods[method];
  const era = eraOf(params._meta);
  if (!known?.params(params) || !era || (known.era ?? era) !== era) return undefined;
  const client = fieldOf(params._meta, metaKeys.client);
  const progressToken = fieldOf(params._meta, 'progressToken');
  return {
    id,
    method,
    params,
    era,
    client: isClient(client) ? client : undefined,
    progressToken: isId(progressToken) ? progressToken : undefined,
  };
}

/** The era of the request, by `_meta`; `undefined` if `_meta` has an unknown form. */
function eraOf(meta: unknown): Era | undefined {
  if (meta === undefined) return 'legacy';
  if (!isObject(meta) || !(meta.progressToken === undefined || isId(meta.progressToken)))
    return undefined;
  // Other fields belong to the host.
  const ofProtocol = Object.entries(meta).filter(([name]) => name.startsWith(reservedPrefix));
  if (ofProtocol.length === 0) return 'legacy';
  return isEnvelope(Object.fromEntries(ofProtocol)) ? 'modern' : undefined;
}
