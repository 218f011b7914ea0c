import { visible } from '../text/characters.ts';
import { fieldOf, isObject } from '../values.ts';
import { metaKeys, viewExtension, viewMimeType } from './identity.ts';

/** What a host says of itself. */
export interface HostClient {
  /** Name and version. */
  name: string;
  /** It can ask a person in a form (elicitation). */
  asks: boolean;
  showsViews: boolean;
}

export const unknownClient: HostClient = { name: 'unknown host', asks: false, showsViews: false };

/** What a host says of itself, from the names of the protocol: `clientInfo` and `capabilities`. */
export function clientOf(info: unknown, capabilities: unknown): HostClient {
  const elicitation = fieldOf(capabilities, 'elicitation');
  const views = fieldOf(fieldOf(capabilities, 'extensions'), viewExtension);
  const mimeTypes = fieldOf(views, 'mimeTypes');
  return {
    name: isObject(info)
      ? visible(`${info.name} ${info.version}`).slice(0, 120)
      : unknownClient.name,
    // Older hosts declare forms by an empty object.
    asks: isObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0),
    showsViews: Array.isArray(mimeTypes) && mimeTypes.includes(viewMimeType),
  };
}

/** Of a modern request, which describes its client. */
export const clientOfMeta = (meta: unknown): HostClient =>
  clientOf(fieldOf(meta, metaKeys.client), fieldOf(meta, metaKeys.capabilities));
