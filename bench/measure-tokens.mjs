import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { LineClient } from './line-client.mjs';
import { startProcess, stopProcess } from './processes.mjs';

const tokensOf = (value) => countTokens(typeof value === 'string' ? value : JSON.stringify(value));

/** Tokens of a result as a model sees it: its text or its structured form, whichever is longer. */
export const tokensOfResult = ({ content, structuredContent }) =>
  Math.max(tokensOf(content.map(({ text }) => text).join('\n')), tokensOf(structuredContent ?? ''));

/** Runs `work` with a client of this server over stdio. */
export async function withServer(candidates, env, work) {
  const child = startProcess(candidates.cpq.stdio, env);
  try {
    const client = new LineClient(child);
    const { result } = JSON.parse(await client.open());
    return await work(client, result);
  } finally {
    await stopProcess(child);
  }
}

export async function wire({ baseUrl, key }, path) {
  const response = await fetch(`${baseUrl}/public-api${path}`, { headers: { 'api-key': key } });
  return response.text();
}

/** Tokens of `tools/list` with every tool enabled, and of two lists compared with the service's own answers. */
export async function measureTokens(candidates, env, tenant) {
  const everything = {
    ...env,
    CPQ_GRANTS: 'read,opportunity:write',
    CPQ_TOOLSETS: 'routes,briefs,events,changes',
  };
  return withServer(candidates, everything, async (client, { instructions }) => {
    const { tools } = JSON.parse(await client.request('tools/list')).result;
    const seen = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    const compare = async (name, size, path) => ({
      tokens: tokensOfResult(await client.call(name, { size })),
      wire: tokensOf(await wire(tenant, `${path}?size=${size}`)),
    });
    return {
      tools: tools.length,
      seen: tokensOf(seen) + tokensOf(instructions),
      sent: tokensOf(tools),
      opportunities: await compare('cpq_list_opportunities', 25, '/opportunity'),
      quotes: await compare('cpq_list_quotes', 10, '/quote'),
    };
  });
}
