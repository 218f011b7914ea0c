import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import {
  guide,
  guideUri,
  type ResourceTemplate,
  resourceTemplates,
} from '../../tools/resources.ts';
import { ApiError } from '../api/errors.ts';
import type { ApiRecord } from '../api/records.ts';
import { full } from '../briefs/concise.ts';
import { isSearched } from '../briefs/search.ts';
import { identifier, trusted, wording } from '../outside-text.ts';
import type { ToolCall } from '../tenant/call.ts';
import { readGrant } from '../tenant/grants.ts';
import { resolveRecord } from '../tenant/resolve.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { InvalidParams } from './invalid-params.ts';
import { recordText } from './results.ts';
import type { Surface } from './surface.ts';
import { readViewResource, viewAt, viewResources } from './views.ts';
import { explain } from './wording.ts';

const mimeType = 'text/markdown';

export const listResources = (surface: Surface): ListResourcesResult => ({
  resources: [
    {
      uri: guideUri,
      name: 'guide',
      title: 'What can be asked',
      description: 'Which tool answers which question, and what the words mean',
      mimeType,
    },
    ...viewResources(surface.list),
  ],
});

/** Those that this tenant's grants let anyone read. */
export const listTemplates = (tenant: Tenant): ListResourceTemplatesResult => ({
  resourceTemplates: readable(tenant).map(({ uriTemplate, name, title, description }) => ({
    uriTemplate,
    name,
    title,
    description,
    mimeType,
  })),
});

export const readable = (tenant: Tenant): readonly ResourceTemplate[] =>
  resourceTemplates.filter(({ resource }) => tenant.grants.has(readGrant(resource)));

/**
 * One record, the guide, or a view.
 * @throws InvalidParams for an address that is none of ours, and for a record that cannot be had
 */
export async function readResource(
  { tenant, surface }: { tenant: Tenant; surface: Surface },
  uri: string,
  call: ToolCall,
): Promise<ReadResourceResult> {
  if (uri === guideUri) return contents(uri, guide);
  const view = viewAt(uri);
  if (view) return readViewResource(view, surface.list);
  const { template, id } = parse(tenant, uri);
  try {
    const record = await read(tenant, template, id, call);
    return contents(
      uri,
      tenant.client.withoutKey(
        await recordText(wording`${trusted(template.title)} ${identifier(id)}`, full(record)),
      ),
    );
  } catch (error) {
    call.signal.throwIfAborted();
    throw new InvalidParams(tenant.client.withoutKey(explain(error)), { uri });
  }
}

const contents = (uri: string, text: string): ReadResourceResult => ({
  contents: [{ uri, mimeType, text }],
});

function parse(tenant: Tenant, uri: string): { template: ResourceTemplate; id: string } {
  const [, kind, rest] = /^cpq:\/\/([a-z-]+)\/([^/?#]+)$/.exec(uri) ?? [];
  const template = readable(tenant).find(({ uriTemplate }) => uriTemplate === `cpq://${kind}/{id}`);
  if (template && rest !== undefined) return { template, id: decoded(rest) };
  const known = [guideUri, ...readable(tenant).map(({ uriTemplate }) => uriTemplate)].join(', ');
  throw new InvalidParams(`There is no resource at this address. Known: ${known}`, { uri });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray percent sign: it is taken as it stands.
  }
}

async function read(
  tenant: Tenant,
  { resource }: ResourceTemplate,
  id: string,
  call: ToolCall,
): Promise<ApiRecord> {
  if (!isSearched(resource)) return tenant.one(resource, 'id', id, call);
  const found = await resolveRecord(tenant, resource, id, call, { askFirst: true });
  if (found.kind === 'one') return found.record;
  throw new ApiError('not-found', { host: tenant.host }, 'none, or several');
}
