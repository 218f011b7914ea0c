import type { Row } from '../hosts.ts';
import type { Rewrite } from '../upstream/behaviour.ts';
import { beside, bodies, type Changes, rewritten } from './changes.ts';
import {
  all,
  as,
  firstTen,
  inField,
  inRecords,
  inSearches,
  renamed,
  renamedAll,
  states,
} from './rewrite.ts';
import type { ListPath, Named } from './stored-data.ts';

/** Data that is only half migrated, partial outages, and the habits of other products and of gateways. */

const deal = '/opportunity';

/** Whether a record is one of the half that has the new form: always the same ones. */
const isHalf = ({ id, name }: Row): boolean =>
  [...String(id ?? name)].reduce((sum, it) => sum + it.charCodeAt(0), 0) % 2 === 0;

/** One field of half of the records. */
const half = <V = unknown>(
  route: ListPath | 'item',
  field: string,
  make: (value: V) => Row,
): (() => Rewrite) =>
  inField<V>(route, field, (value, row) => (isHalf(row) ? make(value) : { [field]: value }));

/** Half of the records of a route. */
const halfRows = (route: ListPath | 'item', change: (row: Row) => Row): (() => Rewrite) =>
  inRecords(route, (row) => (isHalf(row) ? change(row) : row));

const called = (name: string) => (value: unknown) => ({ [name]: value });
/** The same field of half of the records with another value. */
const halfAs = <V = unknown>(
  route: ListPath | 'item',
  field: string,
  make: (value: V) => unknown,
): (() => Rewrite) => half<V>(route, field, (value) => ({ [field]: make(value) }));

const dayFirst = (value: unknown): string =>
  String(value).slice(0, 10).split('-').reverse().join('.');

/** Values of half of the records that nobody knows. */
const unknown: readonly (readonly [ListPath | 'item', string])[] = [
  [deal, 'onetimeRevenue'],
  [deal, 'monthlyRevenue'],
  [deal, 'probability'],
  ['/product', 'cost'],
  ['/quote', 'items'],
  ['item', 'price'],
  ['item', 'cost'],
  ['item', 'quantity'],
];

export const halves: Changes = rewritten({
  ...Object.fromEntries(
    unknown.map(([route, field]) => [
      `half: ${route}.${field} null`,
      halfAs(route, field, () => null),
    ]),
  ),
  'half: no onetimeRevenue': half(deal, 'onetimeRevenue', () => ({})),
  'half: amount': half(deal, 'onetimeRevenue', called('amount')),
  'half: mrr': half(deal, 'monthlyRevenue', called('mrr')),
  'half: probability in percent': halfAs(deal, 'probability', (it) => Number(it) * 100),
  'half: company {key, text}': halfAs(deal, 'company', (it: Named) => ({
    key: it.id,
    text: it.name,
  })),
  'half: companyId only': half(deal, 'company', (it: Named) => ({ companyId: it.id })),
  'half: company by id, name null': halfAs(deal, 'company', (it: Named) => ({
    id: it.id,
    name: null,
  })),
  'half: company with an error': halfAs(deal, 'company', (it: Named) => ({
    id: it.id,
    error: 'unavailable',
  })),
  'half: accountRef of deals': half(deal, 'company', (it: Named) => ({ accountRef: it.id })),
  'half: quote accountRef': half('/quote', 'company', (it: Named) => ({ accountRef: it.id })),
  'half: owner as e-mail': halfAs(
    deal,
    'owner',
    (it: Named) => `${it.name.split(' ')[0]?.toLowerCase()}@example.com`,
  ),
  'half: stage as an id': halfAs(deal, 'pipelineStage', (it: Named) => it.id),
  'half: stageName': half(deal, 'pipelineStage', (it: Named) => ({ stageName: it.name })),
  'half: status won': half(deal, 'statusId', called('status')),
  'half: status codes': halfAs(deal, 'statusId', (it) => ({ won: 4, lost: 7 })[String(it)] ?? 1),
  'half: closeDate': half(deal, 'closedAt', called('closeDate')),
  'half: close date renamed': half(deal, 'expectedCloseDate', called('dueDate')),
  'half: close date day first': halfAs(deal, 'expectedCloseDate', dayFirst),
  'half: close date false': halfAs(deal, 'expectedCloseDate', () => false),
  'half: updatedAt renamed': half(deal, 'updatedAt', called('modified')),
  'half: isDeleted': halfRows(deal, ({ deletedAt, ...row }) => ({
    ...row,
    isDeleted: deletedAt !== undefined,
  })),
  'half: quote isDeleted': halfRows('/quote', ({ deletedAt, ...row }) => ({
    ...row,
    isDeleted: deletedAt !== undefined,
  })),
  'half: product unlisted': half('/product', 'listed', (it) => ({ unlisted: !it })),
  'half: product list_price': half('/product', 'price', called('list_price')),
  'half: contact accountId': half('/contact', 'companyId', called('accountId')),
  'half: lineItems': half('/quote', 'items', called('lineItems')),
  'half: items []': halfAs('/quote', 'items', () => []),
  'half: quote state': half('/quote', 'status', called('state')),
  'half: quote status codes': halfAs('/quote', 'status', (it) =>
    ['draft', 'sent', 'approved', 'declined'].indexOf(String(it)),
  ),
  'half: quote opportunity dealId': half('/quote', 'opportunity', (it: Named) => ({
    dealId: it.id,
  })),
  'half: sentAt renamed': half('/quote', 'sentAt', called('dispatched')),
  'half: expiresAt renamed': half('/quote', 'expiresAt', called('validUntil')),
  'half: unitPrice': half('item', 'price', called('unitPrice')),
  'half: qty': half('item', 'quantity', called('qty')),
  'half: billingPeriod': half('item', 'term', called('billingPeriod')),
  'half: term P1M': halfAs('item', 'term', (it) => (it === 'month' ? 'P1M' : 'P1Y')),
  'half: line product id only': half('item', 'product', (it: Named) => ({ productId: it.id })),
  'half: line product sku': half('item', 'product', () => ({ sku: 'x' })),
  'half: no currency': half('/company', 'currency', () => ({})),
  'half: currency symbol': halfAs(
    '/company',
    'currency',
    (it: string) => ({ EUR: '€', USD: '$', GBP: '£' })[it],
  ),
  'half: company name null': halfAs('/company', 'name', () => null),
  'half: company title': half('/company', 'name', called('title')),
});

/** A reference that another variation of a pair has made a text stays one. */
const swapped = (it: Named | string): unknown =>
  typeof it === 'object' ? { id: it.name, name: String(it.id) } : it;
const padded = (it: Named): Row => ({ id: `  ${it.id} `, name: it.name });
const withZeros = (it: Named): Row => ({ id: `000${it.id}`, name: it.name });
const emailOf = (it: Named): string => `${it.name.toLowerCase().replace(' ', '.')}@example.com`;
const pairOf = (it: Named): unknown[] => [it.id, it.name];

/** The lines of a quote, all but the first one inside of it. */
const nestedAs = (name: string): (() => Rewrite) =>
  as('/quote', 'items', ([first, ...rest]: Row[]) => (first ? [{ ...first, [name]: rest }] : []));
const state = (it: unknown): number => ({ won: 1, lost: 2 })[String(it)] ?? 0;
const lowerCase = (name: string): string => name.toLowerCase();

export const habits: Changes = rewritten({
  'deal company swapped': as(deal, 'company', swapped),
  'quote company swapped': as('/quote', 'company', swapped),
  'deal owner swapped': as(deal, 'owner', swapped),
  'deal stage swapped': as(deal, 'pipelineStage', swapped),
  'company itself swapped': inRecords('/company', (row) => ({
    ...row,
    id: row.name,
    name: row.id,
  })),
  'contact companyId is the name': as('/contact', 'companyId', (_, row) => row.companyName),
  'deal companyId is the name': inField(deal, 'company', (it: Named) => ({ companyId: it.name })),
  'line product swapped': as('item', 'product', swapped),
  'quote opportunity swapped': as('/quote', 'opportunity', swapped),
  'deal company padded': as(deal, 'company', padded),
  'quote company padded': as('/quote', 'company', padded),
  'quote opportunity padded': as('/quote', 'opportunity', padded),
  'line product padded': as('item', 'product', padded),
  'contact companyId padded': as('/contact', 'companyId', (it) => ` ${it}`),
  'companies padded': as('/company', 'id', (it) => ` ${it} `),
  'company ids with zeros in deals, no names': as(deal, 'company', (it: Named) => ({
    id: `000${it.id}`,
  })),
  'company ids with zeros in deals': as(deal, 'company', withZeros),
  'opportunity ids with zeros in quotes': as('/quote', 'opportunity', withZeros),
  'product ids with zeros in lines': as('item', 'product', withZeros),
  'names padded': as('/company', 'name', (it) => ` ${it}  `),
  'owners as e-mail': as(deal, 'owner', emailOf),
  'owners {email}': as(deal, 'owner', (it: Named) => ({ email: emailOf(it) })),
  'owners {id, email}': as(deal, 'owner', (it: Named) => ({ id: it.id, email: emailOf(it) })),
  ownerEmail: inField(deal, 'owner', (it: Named) => ({ ownerEmail: emailOf(it) })),
  'quote owners as e-mail': as('/quote', 'owner', emailOf),
  'lines without product': inField('item', 'product', () => ({})),
  'lines with product name only': as('item', 'product', (it: Named) => it.name),
  'lines with sku': inField('item', 'product', () => ({ sku: 'x' })),
  'lines without ids': inRecords('item', ({ id: _, product: __, ...row }) => row),
  'Salesforce: 15 of 18 characters': as(deal, 'company', (it: Named) => ({
    id: String(it.id).slice(0, 15),
    name: it.name,
  })),
  'Salesforce: attributes in each': inRecords(deal, (row) => ({
    attributes: { type: 'Opportunity', url: '/x' },
    ...row,
  })),
  'Salesforce: onetimeRevenue__c': renamed(deal, 'onetimeRevenue', 'onetimeRevenue__c'),
  'Salesforce: currency on deals': all(
    inField('/company', 'currency', () => ({})),
    inRecords(deal, (row) => ({ ...row, currencyIsoCode: 'EUR' })),
  ),
  'Salesforce: CloseDate in closedAt of all': inRecords(deal, (row) => ({
    closedAt: row.expectedCloseDate,
    ...row,
  })),
  'HubSpot: properties': inRecords(deal, ({ id, createdAt, updatedAt, ...properties }) => ({
    id,
    createdAt,
    updatedAt,
    properties,
  })),
  'HubSpot: associations': inField(deal, 'company', (it: Named) => ({
    associations: { companies: { results: [{ id: it.id }] } },
  })),
  'HubSpot: hs_ prefix': renamed(deal, 'monthlyRevenue', 'hs_monthlyRevenue'),
  'Pipedrive: {value, name}': as(deal, 'company', (it: Named) => ({ value: it.id, name: it.name })),
  'Pipedrive: org_id': inField(deal, 'company', (it: Named) => ({
    org_id: { value: it.id, name: it.name },
  })),
  'Pipedrive: org_id and org_name': inField(deal, 'company', (it: Named) => ({
    org_id: it.id,
    org_name: it.name,
  })),
  'Pipedrive: status deleted': states(deal, (isGone) => (isGone ? { statusId: 'deleted' } : {})),
  'Dynamics: _companyid_value': inField(deal, 'company', (it: Named) => ({
    _companyid_value: it.id,
  })),
  'Dynamics: formatted': inField(deal, 'owner', (it: Named) => ({
    _ownerid_value: it.id,
    '_ownerid_value@OData.Community.Display.V1.FormattedValue': it.name,
  })),
  'Dynamics: statecode': inField(deal, 'statusId', (it) => ({ statecode: state(it) })),
  'Dynamics: statecode without closedAt': all(
    inField(deal, 'closedAt', () => ({})),
    inField(deal, 'statusId', (it) => ({ statecode: state(it) })),
  ),
  'Odoo: [id, name]': as(deal, 'company', pairOf),
  'Odoo: false': inRecords(deal, (row) => ({
    closedAt: false,
    description: false,
    deletedAt: false,
    ...row,
  })),
  'Odoo: half false': half(deal, 'owner', () => ({ owner: false })),
  'Odoo: all [id, name]': all(
    ...['company', 'owner', 'pipelineStage'].map((field) => as(deal, field, pairOf)),
  ),
  'SAP: deferred': as(deal, 'company', () => ({ __deferred: { uri: 'https://x/y' } })),
  'an empty company': as(deal, 'company', () => ({})),
  'SAP: amounts with zeros': as(deal, 'onetimeRevenue', (it) => String(it).padStart(12, '0')),
  'SAP: sign behind': as(deal, 'onetimeRevenue', (it) => `${it}-`),
  'SAP: deleted X': states(deal, (isGone) => ({ deleted: isGone ? 'X' : '' })),
  'SAP: listed X': as('/product', 'listed', (it) => (it ? 'X' : '')),
  'SAP: date 00000000': inRecords(deal, (row) => ({ closedAt: '00000000', ...row })),
  'PandaDoc: document.sent': as(
    '/quote',
    'status',
    (it) => `document.${it === 'approved' ? 'completed' : it}`,
  ),
  'PandaDoc: pricing tables': inField('/quote', 'items', (items) => ({
    pricing: { tables: [{ items }] },
  })),
  'lines nested': nestedAs('items'),
  'lines nested as children': nestedAs('children'),
  'lines by key': as('/quote', 'items', (items: Row[]) =>
    Object.fromEntries(items.map((it, at) => [`k${at}`, it])),
  ),
  'lines as text': as('/quote', 'items', (items) => JSON.stringify(items)),
  'lines ids only': as('/quote', 'items', (items: Row[]) => items.map(({ id }) => id)),
  'lines {id} only': as('/quote', 'items', (items: Row[]) => items.map(({ id }) => ({ id }))),
  'line prices 0 beside netPrice': inField('item', 'price', (netPrice) => ({ price: 0, netPrice })),
  'localized names': as('/product', 'name', (en) => ({ en, de: en })),
  'localized stage': as(deal, 'pipelineStage', (it: Named) => ({
    id: it.id,
    name: { en: it.name },
  })),
  'quote deletedAt in meta': inRecords('/quote', ({ deletedAt, ...row }) => ({
    ...row,
    meta: { deletedAt },
  })),
  'deal deletedAt in audit': inRecords(deal, ({ deletedAt, ...row }) => ({
    ...row,
    audit: { deletedAt },
  })),
  'quote superseded': states('/quote', (superseded) => ({ superseded })),
  'quote isLatest': states('/quote', (isGone) => ({ isLatest: !isGone })),
  'quote isCurrentVersion': states('/quote', (isGone) => ({ isCurrentVersion: !isGone })),
  'quote archived': states('/quote', (archived) => ({ archived })),
  'deal lifecycle retired': states(deal, (isGone) => ({ lifecycle: isGone ? 'retired' : 'live' })),
  'company archived': inRecords('/company', (row) => ({ ...row, archived: isHalf(row) })),
  'cost masked as 0': as('/product', 'cost', () => 0),
  'price masked as 0': as('/product', 'price', () => 0),
  'line price masked as 0': as('item', 'price', () => 0),
  'line cost masked as 0': as('item', 'cost', () => 0),
  'revenues masked as 0': all(
    as(deal, 'onetimeRevenue', () => 0),
    as(deal, 'monthlyRevenue', () => 0),
  ),
  'probability masked as 0': as(deal, 'probability', () => 0),
  'all keys in lower case': inRecords(deal, renamedAll(lowerCase)),
  'quote keys in lower case': inRecords('/quote', renamedAll(lowerCase)),
  'valueMonths as P12M': as(deal, 'valueMonths', (it) => `P${it}M`),
  'valueMonths in years': inField(deal, 'valueMonths', (it) => ({ valueYears: Number(it) / 12 })),
});

/** Of all records of a kind. */
const wholeTotals: Readonly<Record<string, number>> = {
  ...{ company: 130, contact: 150, opportunity: 330, product: 240, quote: 140 },
};

export const pages: Changes = {
  ...bodies({
    'Salesforce: totalSize, done': ({ rows, total, from }) => ({
      totalSize: total,
      done: from + rows.length >= total,
      records: rows,
    }),
    'HubSpot: paging.next': ({ rows, total, from }) => ({
      results: rows,
      ...(from + rows.length < total
        ? { paging: { next: { after: String(from + rows.length) } } }
        : {}),
    }),
    'HubSpot: paging.next, half': ({ rows, total, from }) => ({
      results: firstTen({ rows, from }),
      ...(from + 10 < total ? { paging: { next: { after: '10' } } } : {}),
    }),
    'Pipedrive: additional_data': ({ rows, total, from, size }) => ({
      success: true,
      data: rows,
      additional_data: {
        pagination: {
          start: from,
          limit: size,
          more_items_in_collection: from + rows.length < total,
        },
      },
    }),
    'Pipedrive: additional_data, half': ({ rows, from }) => ({
      success: true,
      data: firstTen({ rows, from }),
      additional_data: { pagination: { start: from, limit: 10, more_items_in_collection: true } },
    }),
    'Zoho: info': ({ rows, total, from, size }) => ({
      data: rows,
      info: { per_page: size, count: rows.length, more_records: from + rows.length < total },
    }),
    'Zoho: info, half': ({ rows, from }) => ({
      data: firstTen({ rows, from }),
      info: { per_page: 10, count: 10, more_records: true },
    }),
    'Dynamics: nextLink': ({ rows, total, from }) => ({
      value: rows,
      ...(from + rows.length < total ? { '@odata.nextLink': 'https://x/y' } : {}),
    }),
    'Dynamics: nextLink, half': ({ rows, from }) => ({
      value: firstTen({ rows, from }),
      '@odata.nextLink': 'https://x/y',
    }),
    'Odoo: result.records, length': ({ rows }) => ({
      jsonrpc: '2.0',
      result: { records: rows, length: rows.length },
    }),
    'SAP: d.results, __count': ({ rows, total }) => ({
      d: { results: rows, __count: String(total) },
    }),
    'total grows (look-ahead)': beside(({ rows, total, from }) => ({
      total: Math.min(total, from + rows.length + 1),
    })),
    'total grows (a page ahead)': beside(({ rows, total, from, size }) => ({
      total: Math.min(total, from + rows.length + size),
    })),
    'total so far': beside(({ rows, from }) => ({ total: from + rows.length })),
    'total + 3': beside(({ total }) => ({ total: total + 3 })),
    'total − 2': beside(({ rows, total }) => ({ total: Math.max(rows.length, total - 2) })),
    'total halved': beside(({ total }) => ({ total: Math.floor(total / 2) })),
    'total of another list': beside(() => ({ total: 517 })),
    'total + 3, 10 rows a page': ({ rows, total }) => ({
      results: rows.slice(0, 10),
      total: total + 3,
    }),
    'total is the page size': beside(({ size }) => ({ total: size })),
    'rows in records by type': ({ rows, total }) => ({
      results: rows.map((row) => ({ record: row })),
      total,
    }),
    'rows in item': ({ rows, total }) => ({
      results: rows.map((item) => ({ item, score: 1 })),
      total,
    }),
    'rows in fields': ({ rows, total }) => ({
      results: rows.map(({ id, ...fields }) => ({ id, fields })),
      total,
    }),
    'rows in document': ({ rows, total }) => ({
      results: rows.map((document) => ({ document, highlights: [] })),
      total,
    }),
  }),
  ...rewritten({
    'total of the whole tenant': inSearches(({ rows, name }) => ({
      body: { results: rows, total: wholeTotals[name] },
    })),
    '204 for no match': inSearches(({ total }) => (total === 0 ? { status: 204, text: '' } : {})),
    'pages behind 100 are empty': inSearches(({ rows, total, from }) => ({
      body: { results: from >= 100 ? [] : rows.slice(0, 100 - from), total },
    })),
    'pages behind the end begin anew': () => {
      const first = new Map<string, unknown>();
      return (reply, request) => {
        const { results, total } = Object(reply.body) as { results?: Row[]; total?: number };
        if (!results) return reply;
        if (
          !request.query.get('from') &&
          !request.query.get('filters') &&
          !request.query.get('query')
        )
          first.set(request.endpoint, results);
        return results.length === 0 && request.query.get('from')
          ? { ...reply, body: { results: first.get(request.endpoint), total } }
          : reply;
      };
    },
    'a cache without the query': () => {
      const kept = new Map<string, unknown>();
      return (reply, request) => {
        if (request.method !== 'GET' || reply.status !== 200) return reply;
        const body = kept.get(request.endpoint) ?? reply.body;
        kept.set(request.endpoint, body);
        return { ...reply, body };
      };
    },
    'each third reply 500': () => {
      let n = 0;
      return (reply) => {
        n += 1;
        return n % 3 === 0 ? { status: 500, body: {} } : reply;
      };
    },
    'half of companies not visible': inSearches(({ rows, total, name }) => {
      if (name !== 'company') return {};
      return { body: { results: rows.filter((row) => !isHalf(row)), total } };
    }),
    'half of companies not visible, not counted': inSearches(({ rows, name }) =>
      name === 'company' ? { body: { results: rows.filter((row) => !isHalf(row)) } } : {},
    ),
  }),
};
