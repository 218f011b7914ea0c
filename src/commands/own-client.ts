import { answerMs, type ChangeCall } from '../changes/consent.ts';
import type { Settings } from '../config/settings.ts';
import { ConfigError } from '../config.ts';
import { consentQuestion } from '../mcp/consent-text.ts';
import { readResource } from '../mcp/resources.ts';
import { textOf } from '../mcp/results.ts';
import { runTool } from '../mcp/tool-run.ts';
import { callMs } from '../service/call.ts';
import { parseGrants, writeGrant } from '../tenant/grants.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { toolsets } from '../tool-kit/toolsets.ts';
import { openLog, resolveAddress } from './start.ts';
import { openTenant } from './tenant-handle.ts';
import { tenantsOf } from './tenants.ts';

/** Answers the question whether to write. */
type Agree = (question: string) => Promise<boolean>;

/** Runs tools in this process. @param name needed if there are several tenants. @param agree answers for the operator. @throws ConfigError */
export async function openClient(settings: Settings, name?: string, agree?: Agree) {
  const tenants = tenantsOf(settings);
  const known = [...tenants.keys()];
  const chosen = name ?? (known.length === 1 ? known[0] : undefined) ?? '';
  const found = tenants.get(chosen);
  if (!found) throw new ConfigError(`Name one tenant with --tenant: ${known.join(', ')}`);
  const grants = parseGrants([...found.grants, writeGrant]);
  const operator = { grants, tools: undefined, toolsets: new Set(toolsets) };
  const tenant = { ...found, ...(agree && operator) };
  const endpoint = await openTenant(tenant, await resolveAddress(tenant), openLog(tenant), chosen);
  const { parts } = endpoint;
  const { signal } = new AbortController();
  const newCall = (): ChangeCall => ({
    signal,
    deadline: Date.now() + (agree ? answerMs : callMs),
    progress: () => {},
    client: 'cpq-mcp',
    async consent(proposal) {
      const question = withoutSecrets(consentQuestion(proposal, parts.tenant.site.host));
      const isAgreed = await agree?.(question);
      return isAgreed ? { outcome: 'agreed', how: 'asked' } : { outcome: 'declined' };
    },
  });
  return {
    tools: parts.surface.list,
    /** The text of an answer. @throws Error with the text of one that failed */
    async ask(tool: string, given: Record<string, unknown>): Promise<string> {
      const entry = parts.surface.byName.get(tool);
      if (!entry) throw new Error(`There is no tool ${tool}`);
      const result = await runTool(entry, parts, { given, signal }, newCall);
      if (result.isError) throw new Error(textOf(result));
      return `${textOf(result)}\n`;
    },
    /** @throws Error for a resource that cannot be read */
    read: (uri: string) => readResource(parts, uri, newCall()),
    close: () => endpoint.close(),
  };
}

/** Words such as `since=2026-01-01`. @throws ConfigError with the usage */
export function argumentsIn(words: readonly string[], usage: string): Record<string, string> {
  const pairs = words.map((word) => /^(\w+)=(.*)$/s.exec(word) ?? []);
  if (pairs.some(([, name]) => name === undefined)) throw new ConfigError(usage);
  return Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
}
