import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { listen } from './local-server.ts';
import { closing } from './shared.ts';

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  jwk: JWK;
}

export async function newKey(alg: string, kid: string): Promise<SigningKey> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return { ...pair, kid, alg, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg } };
}

/** Changes of a token; fields that are undefined are removed. */
export interface TokenRequest {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: SigningKey;
}

export interface Provider {
  issuer: string;
  /** The published keys. */
  keys: SigningKey[];
  /** Answers requests instead of the provider, if set. */
  instead: ((path: string, response: ServerResponse) => boolean) | undefined;
  /** Answers a request for a token, with the fields of its form. */
  grant: ((form: Record<string, string>) => Promise<object>) | undefined;
  /** Requested paths. */
  asked: string[];
  /** A token for this audience. */
  token(audience: string, tokenRequest?: TokenRequest): Promise<string>;
}

/** A small identity provider with metadata and keys. */
export async function startProvider(alg: string, path = ''): Promise<Provider> {
  const first = await newKey(alg, 'first');
  const { url } = closing(await listen((request, response) => answer(provider, request, response)));
  const issuer = `${url}${path}`;
  const provider: Provider = {
    issuer,
    keys: [first],
    instead: undefined,
    grant: undefined,
    asked: [],
    token: (audience, { claims = {}, header = {}, key = provider.keys[0] ?? first } = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: audience, sub: 'anna', iat: now, exp: now + 600 };
      const payload = { ...usual, scope: 'read', ...claims } as JWTPayload;
      return new SignJWT(payload)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
        .sign(key.privateKey);
    },
  };
  return provider;
}

function answer(provider: Provider, request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  provider.asked.push(path);
  if (provider.instead?.(path, response)) return;
  const { issuer } = provider;
  if (path.includes('/.well-known/')) json(response, metadataOf(issuer));
  else if (path.endsWith('/token') && provider.grant) void answerGrant(provider, request, response);
  else if (path.endsWith('/keys')) json(response, { keys: provider.keys.map(({ jwk }) => jwk) });
  else response.writeHead(404).end();
}

const metadataOf = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}/keys`,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
});

async function answerGrant(
  { grant }: Provider,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  const answered = grant?.(form).catch((error: Error) => ({
    ...{ error: 'invalid_grant', error_description: error.message },
  }));
  const body = (await answered) ?? {};
  if ('error' in body) response.statusCode = 400;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
