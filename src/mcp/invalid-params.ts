import { withoutSecrets } from '../text/secrets.ts';

/** A request for an unknown tool, prompt or resource; code, message and data are sent to the host, without a key. */
export class InvalidParams extends Error {
  /** JSON-RPC error code. */
  readonly code = -32602;
  readonly data: { readonly uri: string } | undefined;

  constructor(message: string, data?: { uri: string }) {
    super(withoutSecrets(message));
    this.data = data && { uri: withoutSecrets(data.uri) };
  }
}
