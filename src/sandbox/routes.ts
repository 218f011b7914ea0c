import type { Context, Subject } from './context.ts';
import { categoryTree, listBare, listEnveloped, readOne, searchRecords } from './read.ts';
import type { Reply, Request, Route } from './route.ts';
import * as schema from './schema.ts';
import { putOpportunity } from './write-opportunity.ts';
import { createQuote, orderQuote, updateOrder, updateQuote } from './write-quote.ts';
import {
  createRecord,
  unlistOrDeleteRecord,
  updateRecord,
  type WritableKind,
  writable,
} from './write-record.ts';

const ok = (body: string): Reply => ({ status: 200, body });

function reading(subject: string, answer: (context: Context, request: Request) => string): Route {
  return {
    permission: `${subject}:read`,
    answer: (context, request) => ok(answer(context, request)),
  };
}

const searching = (subject: string, resource: schema.Resource) =>
  reading(subject, ({ store, tenant }, { query }) => searchRecords(store, tenant, resource, query));
const enveloped = (subject: string, resource: schema.Resource) =>
  reading(subject, ({ store, tenant }, { query }) => listEnveloped(store, tenant, resource, query));
const bare = (subject: string, resource: schema.Resource) =>
  reading(subject, ({ store, tenant }) => listBare(store, tenant, resource));
const byId = (subject: string, resource: schema.Resource) =>
  reading(subject, ({ store, tenant }, { key }) => readOne(store, tenant, resource, 'id', key));
const byExternalIdentifier = (subject: string, resource: schema.Resource) =>
  reading(subject, ({ store, tenant }, { key }) =>
    readOne(store, tenant, resource, 'externalIdentifier', key),
  );

const readRoutes: Record<string, Route> = {
  'GET company': searching('company', schema.company),
  'GET contact': searching('contact', schema.contact),
  'GET opportunity': searching('opportunity', schema.opportunity),
  'GET product': searching('product', schema.product),
  'GET quote': searching('quote', schema.quote),
  'GET quote-template': bare('quote-template', schema.quoteTemplate),
  'GET quote-widget-template': bare('quote-widget-template', schema.quoteWidget),
  'GET pricing-book': enveloped('pricing-book', schema.pricingBook),
  'GET category': bare('category', schema.category),
  'GET category/tree': reading('category', ({ store, tenant }, { query }) =>
    categoryTree(store, tenant, query),
  ),
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
};

function writing(subject: string, answer: (context: Context, request: Request) => Reply): Route {
  return { permission: `${subject}:write`, answer };
}

const creating = (subject: string, kind: WritableKind) =>
  writing(subject, (context, { body }) => createRecord(context, kind, body));
const updating = (subject: string, kind: WritableKind, by: 'id' | 'externalIdentifier') =>
  writing(subject, (context, { key, body }) => updateRecord(context, kind, by, key, body));
const unlisting = (subject: string, resource: schema.Resource<Subject>) =>
  writing(subject, (context, { key }) => unlistOrDeleteRecord(context, resource, key));

const writeRoutes: Record<string, Route> = {
  'PUT opportunity/ext/:key': writing('opportunity', putOpportunity),
  'POST company': creating('company', writable.company),
  'POST contact': creating('contact', writable.contact),
  'POST product': creating('product', writable.product),
  'PUT company/:key': updating('company', writable.company, 'id'),
  'PUT contact/:key': updating('contact', writable.contact, 'id'),
  'PUT product/:key': updating('product', writable.product, 'id'),
  'PUT company/ext/:key': updating('company', writable.company, 'externalIdentifier'),
  'PUT contact/ext/:key': updating('contact', writable.contact, 'externalIdentifier'),
  'PUT product/ext/:key': updating('product', writable.product, 'externalIdentifier'),
  'DELETE company/:key': unlisting('company', schema.company),
  'DELETE contact/:key': unlisting('contact', schema.contact),
  'DELETE opportunity/:key': unlisting('opportunity', schema.opportunity),
  'DELETE product/:key': unlisting('product', schema.product),
  'DELETE quote/:key': unlisting('quote', schema.quote),
  'POST quote': writing('quote', createQuote),
  'PUT quote/:key': writing('quote', updateQuote),
  'PUT order/:key': writing('quote', updateOrder),
  'POST quote/:key/order': writing('quote', orderQuote),
};

const routes: Record<string, Route> = { ...readRoutes, ...writeRoutes };

/** The route of a path below `/public-api/` and its variable part; undefined for an unknown path. */
export function findRoute(method: string, path: string): { route: Route; key: string } | undefined {
  const [first = '', second = '', third = '', ...rest] = path.split('/');
  if (rest.length > 0) return undefined;
  const candidates: [string, string][] = [
    [path, ''],
    [`${first}/:key`, third ? '' : second],
    [`${first}/ext/:key`, second === 'ext' ? third : ''],
    [`${first}/:key/${third}`, second],
  ];
  for (const [shape, key] of candidates) {
    const route = routes[`${method} ${shape}`];
    if (route && (key || shape === path)) return { route, key: decodeURIComponent(key) };
  }
  return undefined;
}
