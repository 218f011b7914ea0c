import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { LineClient } from './line-client.mjs';
import { startProcess, stopProcess } from './processes.mjs';

const tokensOf = (value) => countTokens(typeof value === 'string' ? value : JSON.stringify(value));

/** What a model is shown of a result: the text, or the structured form; the dearer one counts. */
export const tokensOfResult = ({ content, structuredContent }) =>
  Math.max(tokensOf(content.map(({ text }) => text).join('\n')), tokensOf(structuredContent ?? ''));

/** Starts ours over stdio for as long as `work` takes. */
export async function withOurs(candidates, env, work) {
  const child = startProcess(candidates.ours.stdio, env);
  try {
    const client = new LineClient(child);
    await client.open();
    return await work(client);
  } finally {
    await stopProcess(child);
  }
}

export async function wire({ baseUrl, key }, path) {
  const response = await fetch(`${baseUrl}/public-api${path}`, { headers: { 'api-key': key } });
  return response.text();
}

/** The list of tools with everything on, and two lists against what the service sends for the same. */
export async function measureTokens(candidates, env, tenant) {
  const everything = {
    ...env,
    CPQ_GRANTS: 'read,opportunity:write',
    CPQ_TOOLSETS: 'routes,briefs,events,changes',
  };
  return withOurs(candidates, everything, async (client) => {
    const { tools } = JSON.parse(await client.request('tools/list')).result;
    const seen = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    const against = async (name, size, path) => ({
      tokens: tokensOfResult(await client.call(name, { size })),
      wire: tokensOf(await wire(tenant, `${path}?size=${size}`)),
    });
    return {
      tools: tools.length,
      seen: tokensOf(seen),
      sent: tokensOf(tools),
      opportunities: await against('cpq_list_opportunities', 25, '/opportunity'),
      quotes: await against('cpq_list_quotes', 10, '/quote'),
    };
  });
}
