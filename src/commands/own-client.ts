import { ConfigError, type Settings } from '../config.ts';
import { embeddedHost } from '../hosts/embedded.ts';
import { factsOf } from '../log.ts';
import { parseGrants, writeGrant } from '../tenant/grants.ts';
import { toolsets } from '../tool-kit/toolsets.ts';
import { version } from '../version.ts';
import { openLog, resolveAddress } from './start.ts';
import { openTenant } from './tenant-handle.ts';
import { tenantsOf } from './tenants.ts';

/** Answers the question whether to write. */
type Agree = (question: string) => Promise<boolean>;

/** @param name needed if there are several tenants. @param agree answers for the operator. @throws ConfigError */
export async function openClient(settings: Settings, name?: string, agree?: Agree) {
  const { Client, InMemoryTransport } = await import('../hosts/client.ts');
  const tenants = tenantsOf(settings);
  const known = [...tenants.keys()];
  const chosen = name ?? (known.length === 1 ? known[0] : undefined) ?? '';
  const found = tenants.get(chosen);
  if (!found) throw new ConfigError(`Name one tenant with --tenant: ${known.join(', ')}`);
  const grants = parseGrants([...found.grants, writeGrant]);
  const operator = { grants, tools: undefined, toolsets: new Set(toolsets) };
  const tenant = { ...found, ...(agree && operator) };
  const log = openLog(tenant);
  const endpoint = await openTenant(tenant, await resolveAddress(tenant), log, chosen);
  const host = embeddedHost(endpoint, (error) => log.warn('protocol', factsOf(error)));
  const capabilities = agree ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: 'cpq-mcp', version }, { capabilities });
  if (agree)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (!('requestedSchema' in params) || !(await agree(params.message)))
        return { action: 'decline' };
      const ticks = Object.keys(params.requestedSchema.properties).map((tick) => [tick, true]);
      return { action: 'accept', content: Object.fromEntries(ticks) };
    });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  host.connect(theirs);
  await client.connect(ours);
  /** The text of an answer. @throws Error with the text of one that failed */
  const ask = async (tool: string, args: Record<string, unknown>): Promise<string> => {
    const { content, isError } = await client.callTool({ name: tool, arguments: args });
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    if (isError) throw new Error(text);
    return `${text}\n`;
  };
  return {
    client,
    ask,
    async close() {
      await client.close();
      await host.close();
      await endpoint.close();
    },
  };
}

/** Words such as `since=2026-01-01`. @throws ConfigError with the usage */
export function argumentsIn(words: readonly string[], usage: string): Record<string, string> {
  const pairs = words.map((word) => /^(\w+)=(.*)$/s.exec(word) ?? []);
  if (pairs.some(([, name]) => name === undefined)) throw new ConfigError(usage);
  return Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
}
