import type { Context } from './context.ts';
import { categoryTree, listBare, listEnveloped, readOne, searchRecords } from './read.ts';
import type { Reply, Request, Route } from './route.ts';
import * as schema from './schema.ts';
import { putOpportunity } from './write-opportunity.ts';

const ok = (body: string): Reply => ({ status: 200, body });

function reading(subject: string, answer: (context: Context, request: Request) => string): Route {
  return {
    permission: `${subject}:read`,
    answer: (context, request) => ok(answer(context, request)),
  };
}

const searching = (subject: string, resource: schema.Resource) =>
  reading(subject, (context, { query }) => searchRecords(context, resource, query));
const enveloped = (subject: string, resource: schema.Resource) =>
  reading(subject, (context, { query }) => listEnveloped(context, resource, query));
const bare = (subject: string, resource: schema.Resource) =>
  reading(subject, (context) => listBare(context, resource));
const byId = (subject: string, resource: schema.Resource) =>
  reading(subject, (context, { key }) => readOne(context, resource, 'id', key));
const byExternalIdentifier = (subject: string, resource: schema.Resource) =>
  reading(subject, (context, { key }) => readOne(context, resource, 'externalIdentifier', key));

const routes: Record<string, Route> = {
  'GET company': searching('company', schema.company),
  'GET contact': searching('contact', schema.contact),
  'GET opportunity': searching('opportunity', schema.opportunity),
  'GET product': searching('product', schema.product),
  'GET quote': searching('quote', schema.quote),
  'GET quote-template': bare('quote-template', schema.quoteTemplate),
  'GET quote-widget-template': bare('quote-widget-template', schema.quoteWidget),
  'GET pricing-book': enveloped('pricing-book', schema.pricingBook),
  'GET category': bare('category', schema.category),
  'GET category/tree': reading('category', (context, { query }) => categoryTree(context, query)),
  'GET quote-discount-group': enveloped('quote-discount-group', schema.discountGroup),
  'GET contract/items': enveloped('contract', schema.contractItem),
  'GET company/:key': byId('company', schema.company),
  'GET contact/:key': byId('contact', schema.contact),
  'GET product/:key': byId('product', schema.product),
  'GET opportunity/:key': byId('opportunity', schema.opportunity),
  'GET quote/:key': byId('quote', schema.quote),
  'GET quote-template/:key': byId('quote-template', schema.quoteTemplate),
  'GET quote-widget-template/:key': byId('quote-widget-template', schema.quoteWidget),
  'GET pricing-book/:key': byId('pricing-book', schema.pricingBook),
  'GET quote-discount-group/:key': byId('quote-discount-group', schema.discountGroup),
  'GET company/ext/:key': byExternalIdentifier('company', schema.company),
  'GET contact/ext/:key': byExternalIdentifier('contact', schema.contact),
  'GET product/ext/:key': byExternalIdentifier('product', schema.product),
  'PUT opportunity/ext/:key': { permission: 'opportunity:write', answer: putOpportunity },
};

/** The route of a path below `/public-api/` and its variable part; undefined for an unknown path. */
export function findRoute(method: string, path: string): { route: Route; key: string } | undefined {
  const [first = '', second = '', third = '', ...rest] = path.split('/');
  if (rest.length > 0) return undefined;
  const candidates: [string, string][] = [
    [path, ''],
    [`${first}/:key`, third ? '' : second],
    [`${first}/ext/:key`, second === 'ext' ? third : ''],
  ];
  for (const [shape, key] of candidates) {
    const route = routes[`${method} ${shape}`];
    if (route && (key || shape === path)) return { route, key: decodeURIComponent(key) };
  }
  return undefined;
}
