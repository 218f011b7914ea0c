import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { startTeam } from '../support/access.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Provider, startProvider } from '../support/identity-provider.ts';
import { closing, newFolder } from '../support/shared.ts';

/**
 * Enterprise-managed authorisation (ID-JAG): the company's identity provider decides which host may act for whom at the
 * authorization server, and nobody sees a form of consent. The host is the SDK's own client.
 */

const { address } = embeddedTenant({ scale: 0.1 });
const resource = 'https://mcp.example.com/mcp';
const idJag = 'urn:ietf:params:oauth:token-type:id-jag';

/** The company's identity provider: gives assertions to hosts that it knows. */
async function companyProvider(knownHost: string): Promise<Provider> {
  const company = await startProvider('ES256');
  company.grant = async (form) => {
    if (form.client_id !== knownHost) throw new Error(`${form.client_id} may not act for anna`);
    const { payload } = await jwtVerify(form.subject_token ?? '', keysOf(company));
    const claims = { ...{ client_id: 'host', resource: form.resource, scope: form.scope } };
    const access_token = await company.token(form.audience ?? '', {
      claims: { ...claims, sub: payload.sub },
      header: { typ: 'oauth-id-jag+jwt' },
    });
    return { access_token, issued_token_type: idJag, token_type: 'N_A', expires_in: 300 };
  };
  return company;
}

/** The authorization server of the MCP server: accepts assertions of the company. */
async function authorizationServer(company: Provider): Promise<Provider> {
  const server = await startProvider('ES256');
  server.grant = async ({ grant_type, assertion = '' }) => {
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const expected = { issuer: company.issuer, audience: server.issuer, typ: 'oauth-id-jag+jwt' };
    const { payload } = await jwtVerify(assertion, keysOf(company), expected);
    const { sub, scope } = payload;
    const access_token = await server.token(String(payload.resource), { claims: { sub, scope } });
    return { access_token, token_type: 'Bearer', expires_in: 600 };
  };
  return server;
}

const keysOf = ({ keys }: Provider) => createLocalJWKSet({ keys: keys.map(({ jwk }) => jwk) });

async function connectAs(host: string) {
  const company = await companyProvider('known-host');
  const authorization = await authorizationServer(company);
  const { baseUrl, key } = await address();
  const team = await startTeam({
    ...{ CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_STATE_DIR: newFolder() },
    ...{ CPQ_AUTH: 'oauth', CPQ_OAUTH_ISSUER: authorization.issuer, CPQ_PUBLIC_URL: resource },
  });
  const idToken = await company.token(host);
  const authProvider = new CrossAppAccessProvider({
    ...{ clientId: 'host', clientSecret: 'of the host', expectedIssuer: authorization.issuer },
    assertion: async ({ authorizationServerUrl, resourceUrl, fetchFn }) => {
      const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
        ...{ idpUrl: company.issuer, audience: authorizationServerUrl, resource: resourceUrl },
        ...{ idToken, clientId: host, scope: 'company:read', fetchFn },
      });
      return jwtAuthGrant;
    },
  });
  // Stands in for DNS and TLS.
  const { origin } = new URL(team.url);
  const fetchThere = (url: string | URL, init?: RequestInit) =>
    fetch(String(url).replace('https://mcp.example.com', origin), init);
  const transport = new StreamableHTTPClientTransport(new URL(resource), {
    ...{ authProvider, fetch: fetchThere },
  });
  const client = new Client({ name: 'host', version: '1' });
  closing({ close: () => client.close() });
  await client.connect(transport);
  return client;
}

test('a host that the company knows gets in, with the rights that it was given', async () => {
  const client = await connectAs('known-host');
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain('cpq_list_companies');
  expect(names).not.toContain('cpq_list_quotes');
  const answer = await client.callTool({ name: 'cpq_list_companies', arguments: { size: 2 } });
  expect(answer.structuredContent).toMatchObject({ page: { shown: 2 } });
});

test('a host that the company does not know is refused there', async () => {
  await expect(connectAs('another-host')).rejects.toThrow('another-host may not act for anna');
});
