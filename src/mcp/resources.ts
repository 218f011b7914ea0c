import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { ChangeCall } from '../changes/consent.ts';
import { rowOf } from '../lists/concise.ts';
import { knownFor } from '../lists/known.ts';
import { isSearchKind } from '../names/search.ts';
import { ApiError } from '../service/errors.ts';
import type { ApiRecord } from '../service/records/records.ts';
import { readGrant } from '../tenant/grants.ts';
import { resolveRecord } from '../tenant/lookup.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { identifier, trusted, wording } from '../text/untrusted-text.ts';
import {
  exportPrefix,
  exportTemplate,
  guide,
  guideUri,
  historyResource,
  historyUri,
  type ResourceTemplate,
  resourceTemplates,
} from '../tool-kit/resources.ts';
import { decodeSegment } from '../values.ts';
import { madeUpNotice } from './instructions.ts';
import { InvalidParams } from './invalid-params.ts';
import { recordText } from './results.ts';
import type { Access, Surface } from './surface.ts';
import type { CallParts } from './tool-run.ts';
import { readViewResource, viewFromUri, viewResources } from './views.ts';
import { describeError } from './wording.ts';

const mimeType = 'text/markdown';

export const listResources = (surface: Surface): ListResourcesResult => ({
  resources: [
    {
      uri: guideUri,
      name: 'guide',
      title: 'What can be asked',
      description: 'Which tool answers which question, and what the terms mean',
      mimeType,
    },
    ...(hasHistory(surface) ? [historyResource] : []),
    ...viewResources(surface.list),
  ],
});

/** For those who may compare its days. */
const hasHistory = (surface: Surface): boolean =>
  surface.find('cpq_pipeline_changes') !== undefined;

/** Templates of what the caller may read. */
export const listTemplates = (access: Access): ListResourceTemplatesResult => ({
  resourceTemplates: [
    ...readableTemplates(access).map(({ uriTemplate, name, title, description }) => ({
      uriTemplate,
      name,
      title,
      description,
      mimeType,
    })),
    exportTemplate,
  ],
});

/** Records are resources for those who may call the tool that shows one whole. */
export const readableTemplates = ({ grants, surface }: Access): readonly ResourceTemplate[] =>
  surface.find('cpq_get_record')
    ? resourceTemplates.filter(({ resource }) => grants.has(readGrant(resource)))
    : [];

/**
 * Reads one record, the guide, a view, the days of the history, or the rows of a tool as CSV.
 * @throws InvalidParams for an unknown URI or a record that cannot be read
 */
export async function readResource(
  parts: Pick<CallParts, 'tenant' | 'surface' | 'nameOf' | 'isMadeUp'>,
  uri: string,
  call: ChangeCall,
): Promise<ReadResourceResult> {
  const { surface, nameOf, isMadeUp } = parts;
  if (uri === guideUri) return textContents(uri, isMadeUp ? `${madeUpNotice}\n\n${guide}` : guide);
  const view = viewFromUri(uri);
  if (view) return readViewResource(view, surface.list, isMadeUp === true);
  const read = readerOf(parts, uri, call);
  return read().catch((error: unknown) => {
    call.signal.throwIfAborted();
    if (error instanceof InvalidParams) throw error;
    throw new InvalidParams(withoutSecrets(describeError(error, nameOf)), { uri });
  });
}

/** Throws at once for an unknown address. */
function readerOf(
  { tenant, surface }: Pick<CallParts, 'tenant' | 'surface'>,
  uri: string,
  call: ChangeCall,
): () => Promise<ReadResourceResult> {
  if (uri === historyUri && hasHistory(surface))
    return async () => (await import('./history-resource.ts')).readHistory(tenant, call);
  if (uri.startsWith(exportPrefix))
    return async () => (await import('./export.ts')).readExport({ tenant, surface }, uri, call);
  const { template, id } = parseUri({ grants: tenant.grants, surface }, uri);
  return async () => {
    const { resource, title } = template;
    const found = await readRecord(tenant, template, id, call);
    const known = await knownFor(tenant, resource, [found], call);
    const record = rowOf(resource, found, { detail: 'full' }, known);
    const text = await recordText(wording`${trusted(title)} ${identifier(id)}`, record);
    return textContents(uri, withoutSecrets(text));
  };
}

const textContents = (uri: string, text: string): ReadResourceResult => ({
  contents: [{ uri, mimeType, text }],
});

function parseUri(access: Access, uri: string): { template: ResourceTemplate; id: string } {
  const [, kind, rest] = /^cpq:\/\/([a-z-]+)\/([^/?#]+)$/.exec(uri) ?? [];
  const templates = readableTemplates(access);
  const template = templates.find(({ uriTemplate }) => uriTemplate === `cpq://${kind}/{id}`);
  if (template && rest !== undefined) return { template, id: decodeSegment(rest) };
  const known = [guideUri, ...templates.map(({ uriTemplate }) => uriTemplate)].join(', ');
  throw new InvalidParams(`There is no resource at this address. Known: ${known}`, { uri });
}

async function readRecord(
  tenant: Tenant,
  { resource }: ResourceTemplate,
  id: string,
  call: ChangeCall,
): Promise<ApiRecord> {
  if (!isSearchKind(resource)) return tenant.getRecord(resource, 'id', id, call);
  const found = await resolveRecord(tenant, resource, id, call, { askFirst: true });
  if (found.kind === 'one') return found.record;
  throw new ApiError('not-found', { host: tenant.host }, 'not found, or ambiguous');
}
