import type { Context, Reply, Request } from './context.ts';
import { invalid } from './errors.ts';
import { categoryTree, listBare, listEnveloped, readOne, searchRecords } from './read.ts';
import * as schema from './schema.ts';
import { putOpportunity } from './write-opportunity.ts';

type Answer = (context: Context, request: Request) => Reply;

const page = ['size', 'from'];

/** Refuses every query parameter but these, so that a wrong or misspelt one is noticed. */
const taking =
  (parameters: readonly string[], answer: Answer): Answer =>
  (context, request) => {
    const others = [...request.query.keys()].filter((name) => !parameters.includes(name));
    if (others.length > 0) throw invalid(...others.map((name) => `parameter ${name} is unknown`));
    return answer(context, request);
  };
const reading = (
  parameters: readonly string[],
  answer: (context: Context, request: Request) => string,
): Answer =>
  taking(parameters, (context, request) => ({ status: 200, body: answer(context, request) }));
const searching = (resource: schema.Resource, ...more: string[]) =>
  reading([...page, 'query', 'filters', 'sort', ...more], (context, { query }) =>
    searchRecords(context, resource, query),
  );
const enveloped = (resource: schema.Resource, ...more: string[]) =>
  reading([...page, ...more], (context, { query }) => listEnveloped(context, resource, query));
// They ignore both.
const bare = (resource: schema.Resource) => reading(page, (context) => listBare(context, resource));
const byId = (resource: schema.Resource) =>
  reading([], (context, { key }) => readOne(context, resource, 'id', key));
const byExternalIdentifier = (resource: schema.Resource) =>
  reading([], (context, { key }) => readOne(context, resource, 'externalIdentifier', key));

const routes: Record<string, Answer> = {
  'GET company': searching(schema.company),
  'GET contact': searching(schema.contact),
  'GET opportunity': searching(schema.opportunity),
  'GET product': searching(schema.product, 'includeBundles'),
  'GET quote': searching(schema.quote),
  'GET quote-template': bare(schema.quoteTemplate),
  'GET quote-widget-template': bare(schema.quoteWidget),
  'GET pricing-book': enveloped(schema.pricingBook),
  'GET category': bare(schema.category),
  'GET category/tree': reading([...page, 'includeEmpty'], (context, { query }) =>
    categoryTree(context, query),
  ),
  'GET quote-discount-group': enveloped(schema.discountGroup),
  'GET contract/items': enveloped(schema.contractItem, 'query'),
  'GET company/:key': byId(schema.company),
  'GET contact/:key': byId(schema.contact),
  'GET product/:key': byId(schema.product),
  'GET opportunity/:key': byId(schema.opportunity),
  'GET quote/:key': byId(schema.quote),
  'GET quote-template/:key': byId(schema.quoteTemplate),
  'GET quote-widget-template/:key': byId(schema.quoteWidget),
  'GET pricing-book/:key': byId(schema.pricingBook),
  'GET quote-discount-group/:key': byId(schema.discountGroup),
  'GET company/ext/:key': byExternalIdentifier(schema.company),
  'GET contact/ext/:key': byExternalIdentifier(schema.contact),
  'GET product/ext/:key': byExternalIdentifier(schema.product),
  'PUT opportunity/ext/:key': taking([], putOpportunity),
};

interface Route {
  answer: Answer;
  /** The grant that it needs, such as `company:read`. */
  permission: string;
  /** The variable part of the path. */
  key: string;
}

/** The route of a path below `/public-api/`; undefined for an unknown path. */
export function findRoute(method: string, path: string): Route | undefined {
  const [first = '', second = '', third = '', ...rest] = path.split('/');
  if (rest.length > 0) return undefined;
  const candidates: [string, string][] = [
    // A colon is of an identifier, and no shape.
    [path.includes(':') ? '' : path, ''],
    [`${first}/:key`, third ? '' : second],
    [`${first}/ext/:key`, second === 'ext' ? third : ''],
  ];
  for (const [shape, key] of candidates) {
    const answer = routes[`${method} ${shape}`];
    const permission = `${first}:${method === 'PUT' ? 'write' : 'read'}`;
    if (answer && (key || shape === path))
      return { answer, permission, key: decodeURIComponent(key) };
  }
  return undefined;
}
