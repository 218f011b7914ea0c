import { withoutSecrets } from '../text/secrets.ts';

/** Characters of an address that are sent back: of a long one, many texts could be tried for what is taken out. */
const maxUri = 300;

/** A request for an unknown tool, prompt or resource; code, message and data are sent to the host, without a key. */
export class InvalidParams extends Error {
  /** JSON-RPC error code. */
  readonly code = -32602;
  readonly data: { readonly uri: string } | undefined;

  constructor(message: string, data?: { uri: string }) {
    super(withoutSecrets(message));
    this.data = data && { uri: withoutSecrets(data.uri.slice(0, maxUri)) };
  }
}
