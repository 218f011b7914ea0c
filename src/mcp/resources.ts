import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { ChangeCall } from '../changes/consent.ts';
import { deletionOf } from '../figures/outcome.ts';
import { severalCalled } from '../lists/by-identifier.ts';
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
import { deletedWords } from '../tool-kit/one-record.ts';
import { decodeSegment } from '../values.ts';
import { textOf, toResult } from './results.ts';
import { type Access, InvalidParams, type Surface } from './surface.ts';
import type { CallParts } from './tool-run.ts';
import { readViewResource, viewFromUri, viewResources } from './views.ts';
import { describeError } from './wording.ts';

const mimeType = 'text/markdown';

const definitionsUri = 'cpq://definitions';

/**
 * The kinds of records that a person can attach to a conversation. Addressed by id; for kinds with completion, a full name
 * or number works too if it is unique.
 */
const attachable = [
  ['company', 'Company', 'One company, whole'],
  ['contact', 'Contact', 'One contact, whole'],
  ['opportunity', 'Opportunity', 'One opportunity, whole'],
  ['product', 'Product', 'One product, whole'],
  ['quote', 'Quote', 'One quote with its line items'],
  ['pricing_book', 'Pricing book', 'One pricing book with its prices'],
  ['quote_template', 'Quote template', 'One quote template'],
] as const;

export const resourceTemplates = attachable.map(([resource, title, description]) => {
  const uriTemplate = `cpq://${resource.replaceAll('_', '-')}/{id}`;
  return { resource, uriTemplate, name: resource, title, description };
});

type ResourceTemplate = (typeof resourceTemplates)[number];

const exportPrefix = 'cpq://export/';

/** The rows of any reading tool as a file, for a person. The address carries the whole question. */
export const exportTemplate = {
  uriTemplate: `${exportPrefix}{tool}{?query,filters,sort,check,by,owner,company,table}`,
  name: 'export',
  title: 'Rows as CSV',
  description:
    'The rows of a list, check or brief as a file for a spreadsheet: the name of the tool, and its arguments',
  mimeType: 'text/csv',
};

export const listResources = (surface: Surface): ListResourcesResult => ({
  resources: [
    {
      uri: definitionsUri,
      name: 'definitions',
      title: 'Definitions of the figures',
      description: 'The formula of each figure of the briefs and checks',
      mimeType,
    },
    ...viewResources(surface.list),
  ],
});

export const listTemplates = (access: Access): ListResourceTemplatesResult => ({
  resourceTemplates: [
    ...readableTemplates(access).map(({ resource: _, ...shown }) => ({ ...shown, mimeType })),
    exportTemplate,
  ],
});

/** Records are resources for those who may call the tool that shows one whole. */
export const readableTemplates = ({ grants, surface }: Access): readonly ResourceTemplate[] =>
  surface.byName.has('cpq_get_record')
    ? resourceTemplates.filter(({ resource }) => grants.has(readGrant(resource)))
    : [];

/** @throws InvalidParams for an unknown URI or a record that cannot be read */
export async function readResource(
  parts: CallParts,
  uri: string,
  call: ChangeCall,
): Promise<ReadResourceResult> {
  try {
    return await readUri(parts, uri, call);
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof InvalidParams) throw error;
    const text = describeError(error, parts.nameOf, parts.tenant.heldSince());
    throw new InvalidParams(text, { uri });
  }
}

async function readUri(
  parts: CallParts,
  uri: string,
  call: ChangeCall,
): Promise<ReadResourceResult> {
  const { tenant, surface, isMadeUp } = parts;
  if (uri === definitionsUri)
    return textContents(uri, (await import('./definitions.ts')).definitions);
  const view = viewFromUri(uri);
  if (view) return readViewResource(view, surface.list, isMadeUp);
  if (uri.startsWith(exportPrefix))
    return (await import('./export.ts')).readExport(parts, uri, call);
  const { template, id } = parseUri(parts, uri);
  const { resource, title } = template;
  const found = await readRecord(tenant, template, id, call);
  const known = await knownFor(tenant, resource, [found], call);
  const record = rowOf(resource, found, { detail: 'full' }, known);
  const deleted = deletedWords(deletionOf(found));
  const summary = wording`# ${deleted}${trusted(title)} ${identifier(id)}`;
  const result = await toResult({ summary, data: record, asStored: true });
  return textContents(uri, withoutSecrets(textOf(result)));
}

const textContents = (uri: string, text: string): ReadResourceResult => ({
  contents: [{ uri, mimeType, text }],
});

function parseUri(access: Access, uri: string): { template: ResourceTemplate; id: string } {
  const [, kind, rest] = /^cpq:\/\/([a-z-]+)\/([^/?#]+)$/.exec(uri) ?? [];
  const templates = readableTemplates(access);
  const template = templates.find(({ uriTemplate }) => uriTemplate === `cpq://${kind}/{id}`);
  if (template && rest !== undefined) return { template, id: decodeSegment(rest) };
  const known = [
    definitionsUri,
    ...templates.map(({ uriTemplate }) => uriTemplate),
    `${exportPrefix}{tool}`,
  ].join(', ');
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
  if (found.kind === 'several') throw severalCalled(resource, id, found.candidates, found.total);
  throw new ApiError('not-found', { host: tenant.site.host }, 'no record is called so');
}
