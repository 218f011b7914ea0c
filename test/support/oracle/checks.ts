import type { Big } from 'big.js';
import { type Deal, dealsOf } from './deals.ts';
import { numberIn, roundedOr, sumsBy } from './decimal.ts';
import { byName, compare, counts, descending, grouped, only } from './order.ts';
import { later } from './pipeline.ts';
import { type Product, partOf, productsOf } from './products.ts';
import {
  acceptanceOf,
  dealStateOf,
  firstYearOf,
  keptOf,
  type Line,
  netOf,
  overYear,
  type Quote,
  quotesOf,
  statusOf,
} from './quotes.ts';
import {
  type Ask,
  contactName,
  currency,
  day,
  given,
  isSet,
  type SqlRow,
  statusCategory,
  term,
  text,
} from './sql.ts';

interface Finding {
  id: string;
  name?: string | undefined;
  value?: Big | undefined;
  currency: string;
  status?: string | undefined;
  /** Keys by which findings are counted, besides status and owner. */
  kinds?: Record<string, string> | undefined;
  /** Undefined where the record has no owner. */
  owner?: { key: string; name: string } | undefined;
  /** Number of lines or products concerned. */
  parts?: number;
  /** Name of the pricing book. */
  book?: string;
  /** Shown for a quote. */
  number?: string | undefined;
  deal?: string | undefined;
}

interface CountRow {
  by: string;
  value: string;
  count: number;
}

/** With the figures of its kind. */
export interface Report extends Record<string, unknown> {
  counts?: CountRow[];
  total: number;
  rows: { id: string; owner?: string }[];
}

export interface Parameters {
  floor?: number;
  days?: number;
  tolerance?: number;
}

interface CheckFindings {
  examined: number;
  findings: Finding[];
  notChecked?: (string | undefined)[];
  /** Whether values of the findings may be added up. */
  additive?: boolean;
  /** Findings have no value. */
  worthless?: boolean;
  /** The unit of `parts`. */
  parts?: 'lines' | 'products' | 'contacts';
}

type Check = (ask: Ask, today: string, parameters: Parameters) => CheckFindings;

const nowhere = 'unknown currency';

/** Each check, as defined in docs/definitions.md. */
export const checks: Record<string, Check> = {
  thin_margins: (ask, _, { floor = 10 }) =>
    priced(ask, ({ price, cost }) => {
      const least = price.abs().times(floor).div(100);
      const margin = price.minus(cost);
      return margin.lt(least) ? least.minus(margin) : undefined;
    }),
  zero_prices: zeroPrices,
  quotes_of_closed_deals: ofClosedDeals,
  contracts: allContracts,
  contracts_running_out: endingContracts,
  below_cost: (ask) =>
    priced(ask, ({ price, cost }) => (price.lt(cost) ? cost.minus(price) : undefined)),
  stale_quotes: stale,
  expiring_quotes: expiring,
  pricing_drift: drift,
  unlisted_on_quotes: unlisted,
  duplicate_products: duplicates,
  stalled_opportunities: (ask, today, { days = 30 }) => ({
    ...amongOpen(ask, today, (it) => it.lastChange !== undefined && it.idleDays >= days),
    notChecked: openDeals(ask).map((it) => (it.lastChange ? undefined : 'no date of any change')),
  }),
  missing_close_dates: (ask, today) => amongOpen(ask, today, ({ closes }) => !closes),
  opportunities_without_quote: (ask, today) => {
    const quotes = quotesOf(ask).filter(({ statusCategory }) => statusCategory !== 'deleted');
    const quoted = new Set(quotes.map(({ opportunityId }) => opportunityId));
    return amongOpen(ask, today, ({ id }) => !quoted.has(id));
  },
  incomplete_opportunities: (ask, today) => {
    const contacts = new Map(
      ask(`${given} select o.id, o.contactId from it join opportunity o using (tenant)`).map(
        (row) => [String(row.id), text(row, 'contactId')],
      ),
    );
    const missingOf = (deal: Deal) => {
      const has = {
        contact: contacts.get(deal.id),
        company: deal.company.id,
        owner: deal.owner.id,
        category: deal.category.id,
      };
      const missing = Object.entries(has).filter(([, id]) => !id);
      return Object.fromEntries(missing.map(([what]) => [`missing ${what}`, `no ${what}`]));
    };
    return amongOpen(ask, today, (deal) => Object.keys(missingOf(deal)).length > 0, missingOf);
  },
  duplicate_contacts: sharedAddresses,
};

/** A finding for each e-mail address and phone number of several contacts, for the first of them by name. */
function sharedAddresses(ask: Ask): CheckFindings {
  const contacts = ask(`${given} select r.id, ${contactName} as name, r.phone, r.mobilePhone,
      lower(trim(coalesce(r.email, ''))) as email, coalesce(r.companyId, (
        select c.id from company c where c.tenant = r.tenant and lower(c.name) = lower(r.companyName)
      )) as companyId
    from it join contact r using (tenant)
    where not ${isSet('r.deleted')}`).map((row) => ({
    id: String(row.id),
    name: text(row, 'name') || undefined,
    company: text(row, 'companyId'),
    addresses: [
      ...new Set([
        ...(String(row.email).includes('@') ? [`e-mail ${row.email}`] : []),
        ...[row.phone, row.mobilePhone].flatMap((number) => {
          const digits = String(number ?? '')
            .replace(/(ext\.?|x|#) *\d+$/, '')
            .replace('(0)', '')
            .replace(/\D/g, '')
            .replace(/^0+/, '');
          return digits.length < 7 ? [] : `phone ${digits}`;
        }),
      ]),
    ],
  }));
  const each = contacts.flatMap((contact) =>
    contact.addresses.map((address) => ({ contact, address })),
  );
  const shared = [...grouped(each, ({ address }) => address)].filter(([, all]) => all.length > 1);
  return {
    examined: contacts.length,
    worthless: true,
    parts: 'contacts',
    notChecked: contacts.map(({ addresses }) =>
      addresses.length === 0 ? 'no e-mail and no phone' : undefined,
    ),
    findings: shared.map(([address, all]) => {
      const people = all.map(({ contact }) => contact).sort(byName);
      const companies = new Set(people.flatMap(({ company }) => company ?? []));
      const kinds = {
        shared: `same ${address.split(' ')[0]}`,
        companies: companies.size > 1 ? 'several companies' : 'one company',
      };
      const { id = '', name } = people[0] ?? {};
      return { id, name, currency: nowhere, kinds, parts: people.length };
    }),
  };
}

/** The expected report of one check, with its findings in order. */
export function expectedReport(
  check: string,
  ask: Ask,
  today: string,
  parameters: Parameters = {},
): Report {
  const run = checks[check];
  if (!run) throw new Error(`There is no check ${check}`);
  const found = run(ask, today, parameters);
  const { examined, findings, notChecked = [] } = found;
  const reasons = grouped(
    notChecked.filter((reason) => reason !== undefined),
    (reason) => reason,
  );
  const rows = [...findings].sort(
    (one, other) =>
      descending(one.value, other.value) || byName(one, other) || compare(one.book, other.book),
  );
  return only({
    examined,
    notChecked: counts(Object.fromEntries([...reasons].map(([key, all]) => [key, all.length]))),
    valueAtStake: found.additive ? sumsBy(rows, ({ value }) => value) : undefined,
    counts: countsOf(rows),
    ...(found.parts && counts({ [found.parts]: rows.reduce((n, it) => n + (it.parts ?? 0), 0) })),
    unknownValue: found.worthless
      ? undefined
      : counts({ all: rows.filter((it) => !it.value).length })?.all,
    total: rows.length,
    rows: rows.map(({ id, value, currency, number, owner, status, kinds, deal }) =>
      only({
        id,
        valueAtStake: roundedOr(value),
        currency: value && currency,
        number,
        owner: owner?.key === nobody ? undefined : owner?.name,
        status,
        kind: kinds && Object.values(kinds).flat().sort(),
        deal,
      }),
    ),
  }) as Report;
}

const nobody = 'no owner';

/** By status, then by each kind, then by owner; the most frequent first. */
function countsOf(rows: readonly Finding[]): CountRow[] | undefined {
  const kinds = [...new Set(rows.flatMap((row) => Object.keys(row.kinds ?? {})))].sort();
  const all = [
    ...countedBy('status', rows, ({ status }) => status && { key: status, name: status }),
    ...kinds.flatMap((by) =>
      countedBy(by, rows, (row) => {
        const kind = row.kinds?.[by];
        return [kind ?? []].flat().map((name) => ({ key: name, name }));
      }),
    ),
    ...countedBy('owner', rows, ({ owner }) => owner),
  ];
  return all.length === 0 ? undefined : all;
}

interface Label {
  key: string;
  name: string;
}

function countedBy(
  by: string,
  rows: readonly Finding[],
  of: (row: Finding) => Label | Label[] | '' | undefined,
): CountRow[] {
  const known = rows.flatMap((row) => of(row) || []);
  return [...grouped(known, ({ key }) => key).values()]
    .map((same) => ({ by, value: same[0]?.name ?? '', count: same.length }))
    .sort((one, other) => other.count - one.count || byName(named(one), named(other)));
}

const named = ({ value }: CountRow) => ({ name: value === nobody ? undefined : value });

const openDeals = (ask: Ask): Deal[] => dealsOf(ask).filter(({ outcome }) => outcome === 'open');

/** Open deals are examined, and these found. */
function amongOpen(
  ask: Ask,
  today: string,
  isFound: (deal: Deal) => boolean,
  kindsOf: (deal: Deal) => Record<string, string> = () => ({}),
): CheckFindings {
  const open = openDeals(ask);
  const findings = open.filter(isFound).map((deal): Finding => {
    const { id, name, value, currency, owner, stage, closes } = deal;
    const closing = closes ? (closes < today ? 'overdue' : 'not overdue') : 'no close date';
    return {
      ...{ id, name, value, currency, status: stage.name },
      owner: ownerOf(owner.id, owner.name),
      kinds: { closing, ...kindsOf(deal) },
    };
  });
  return { examined: open.length, findings, additive: true };
}

const ownerOf = (id: string | undefined, name: string | undefined) => ({
  key: id ?? nobody,
  name: name ?? id ?? nobody,
});

const listedProducts = (ask: Ask): Product[] => productsOf(ask).filter(({ listed }) => listed);

function priced(
  ask: Ask,
  stake: (known: { price: Big; cost: Big }) => Big | undefined,
): CheckFindings {
  const products = listedProducts(ask);
  const findings = products.flatMap(({ id, name, price, cost, term }) => {
    const value = price && cost && stake({ price, cost });
    if (!value) return [];
    const above = price.lt(cost) ? 'under cost' : 'at or above cost';
    const kinds = { term, price: price.eq(0) ? 'price 0' : above };
    return [{ id, name, value: overYear(value, term), currency: nowhere, kinds }];
  });
  return { examined: products.length, findings, notChecked: products.map(whyUnpriced) };
}

function whyUnpriced({ price, cost }: Product): string | undefined {
  if (price && cost) return undefined;
  if (!price && !cost) return 'no price and no cost';
  return price ? 'no cost' : 'no price';
}

function offered(quote: Quote): Finding {
  const { id, name, number, currency, ownerId, ownerName, opportunityId } = quote;
  const deal = dealStateOf(quote);
  return {
    id,
    number,
    name: name ?? number,
    value: firstYearOf(netOf(quote)),
    currency,
    status: statusOf(quote),
    owner: ownerOf(ownerId, ownerName),
    kinds: { acceptance: acceptanceOf(quote), deal: spokenDeals[deal] ?? `deal ${deal}` },
    deal: quote.opportunityName ?? opportunityId,
  };
}

const spokenDeals: Record<string, string> = { none: 'no deal', not_found: 'deal not found' };

function stale(ask: Ask, today: string, { days = 14 }: Parameters): CheckFindings {
  const answered = `${day('q.approvedAt')} >= ${day('q.sentAt')} or ${day('q.declinedAt')} >= ${day('q.sentAt')}`;
  const sql = `${given} select q.id from it join quote q using (tenant)
    where ${statusCategory} = 'sent' and ${day('q.sentAt')} <= ?3
      and not coalesce(${answered}, ${day('q.approvedAt')} >= ${day('q.sentAt')},
        ${day('q.declinedAt')} >= ${day('q.sentAt')}, 0)`;
  const ids = new Set(ask(sql, later(today, -days)).map(({ id }) => id));
  const sent = quotesOf(ask).filter((quote) => quote.statusCategory === 'sent');
  return {
    examined: sent.length,
    findings: sent.filter(({ id }) => ids.has(id)).map(offered),
    notChecked: sent.map((quote) => (quote.sent ? undefined : 'no sending date')),
    additive: true,
  };
}

const isUnanswered = (quote: Quote): boolean => ['draft', 'sent'].includes(quote.statusCategory);

function expiring(ask: Ask, _: string, { days = 14 }: Parameters): CheckFindings {
  const open = quotesOf(ask).filter(isUnanswered);
  return {
    examined: open.length,
    findings: open
      .filter(({ expires, expiresIn }) => expires && expiresIn >= 0 && expiresIn <= days)
      .map(offered),
    notChecked: open.map(({ expires }) => (expires ? undefined : 'no expiry date')),
    additive: true,
  };
}

/** Whether a row with `validFrom` and `validTo` is valid on a day; a missing end is open. */
export const bookHolds = (row: string, when: string): string =>
  `${when} >= coalesce(${day(`${row}.validFrom`)}, '')
    and ${when} <= coalesce(${day(`${row}.validTo`)}, '9999')`;

/** Prices of books on a day on which both the book and the price are valid. */
export const validOn = (when: string): string =>
  ['b', 'e'].map((row) => bookHolds(row, when)).join(' and ');

function drift(ask: Ask, _: string, { tolerance = 5 }: Parameters): CheckFindings {
  const prices = ask(`${given}
    select b.id as book, e.productId, e.price, p.id, p.name, p.listed, p.price as catalogue,
      ${term('p.term')} as spokenTerm
    from it join pricing_book b using (tenant)
    join pricing_book_product e on e.tenant = b.tenant and e.pricingBookId = b.id
    left join product p on p.tenant = b.tenant and p.id = e.productId
    where ${validOn('today')}`);
  const found: Finding[] = [];
  const notChecked = prices.map((row) => {
    const [book, catalogue] = [numberIn(row, 'price'), numberIn(row, 'catalogue')];
    if (row.id === null) return 'product not in the catalogue';
    if (row.listed === 0) return 'product unlisted';
    if (!book) return 'no price in the book';
    if (!catalogue) return 'no price in the catalogue';
    if (catalogue.eq(0)) return 'price 0 in the catalogue';
    const value = book.minus(catalogue).abs();
    if (value.times(100).gt(catalogue.abs().times(tolerance)))
      found.push({
        id: String(row.id),
        name: text(row, 'name'),
        value: overYear(value, String(row.spokenTerm)),
        currency: nowhere,
        book: String(row.book),
        kinds: {
          term: String(row.spokenTerm),
          side: book.gt(catalogue) ? 'above the catalogue' : 'under the catalogue',
        },
      });
    return undefined;
  });
  return { examined: prices.length, findings: found, notChecked };
}

/** The product of a line: by id, or the only product with the same part number. */
function productFinder(products: readonly Product[]) {
  const byId = new Map(products.map((product) => [product.id, product]));
  const byPart = grouped(
    products.filter(({ part }) => part !== undefined),
    ({ part = '' }) => part,
  );
  return ({ productId, manufacturer, mpn }: Line): Product | undefined => {
    if (productId !== undefined) return byId.get(productId);
    const [only, ...others] = byPart.get(partOf(manufacturer, mpn).part ?? '') ?? [];
    return others.length === 0 ? only : undefined;
  };
}

function unlisted(ask: Ask): CheckFindings {
  const productOf = productFinder(productsOf(ask));
  const open = quotesOf(ask).filter(isUnanswered);
  const lines = open.flatMap((quote) => quote.lines);
  const findings = open.flatMap((quote) => {
    const gone = quote.lines.filter((line) => productOf(line)?.listed === false);
    // A discount amount reduces the quote, not its lines.
    const part = { ...quote, lines: gone, discountAmount: undefined };
    const kept = keptOf(quote);
    if (gone.length === 0) return [];
    const value = firstYearOf(netOf(part))?.times(kept);
    return [{ ...offered(quote), value, parts: gone.length }];
  });
  const notChecked = lines.map((line) => {
    if (productOf(line)) return undefined;
    return line.productId ? 'lines: product not in the catalogue' : 'lines: no product named';
  });
  return { examined: open.length, findings, notChecked, additive: true, parts: 'lines' };
}

function duplicates(ask: Ask): CheckFindings {
  const products = listedProducts(ask);
  const known = products.filter(({ part }) => part !== undefined);
  const several = [...grouped(known, ({ part = '' }) => part).values()].filter(
    (same) => same.length > 1,
  );
  return {
    examined: products.length,
    findings: several.flatMap((same) => {
      const [first] = [...same].sort(byName);
      const { id = '', name, term: only = '' } = first ?? {};
      const isOneTerm = same.every(({ term }) => term === only);
      const prices = same
        .flatMap(({ price }) => (isOneTerm && price) || [])
        .sort((one, other) => one.cmp(other));
      const [lowest, highest] = [prices.at(0), prices.at(-1)];
      const spread = prices.length > 1 && lowest ? highest?.minus(lowest) : undefined;
      const value = overYear(spread, only);
      const kinds = { price: spread?.gt(0) ? 'different prices' : 'no different prices' };
      return [{ id, name, value, currency: nowhere, kinds, parts: same.length }];
    }),
    parts: 'products',
    notChecked: products.map(({ unjudgedPart }) => unjudgedPart),
  };
}

function zeroPrices(ask: Ask): CheckFindings {
  const open = quotesOf(ask).filter(isUnanswered);
  const findings = open.flatMap((quote): Finding[] => {
    const free = quote.lines.filter(({ price }) => price?.eq(0)).length;
    return free === 0 ? [] : [{ ...offered(quote), parts: free }];
  });
  return { examined: open.length, findings, additive: true, parts: 'lines' };
}

function ofClosedDeals(ask: Ask): CheckFindings {
  const open = quotesOf(ask).filter(isUnanswered);
  const closed = open.filter(({ outcome }) => outcome !== undefined && outcome !== 'open');
  return {
    examined: open.length,
    findings: closed.map(offered),
    notChecked: open.map(({ outcome, opportunityId }) => {
      if (opportunityId === undefined) return 'no opportunity';
      return outcome === undefined ? 'opportunity not found' : undefined;
    }),
    additive: true,
  };
}

const [starts, ends] = [day('r.startDate'), day('r.endDate')];
/** Every contract item, with the currency and the name of its company. */
export const contractsSql = `${given}
    select r.id, r.companyId, c.name as company, r.service, r.revenue, r.profit,
      ${starts} as starts, ${ends} as ends, ${term('r.term')} as spoken, ${currency('c.currency')} as currency,
      iif(${ends} < today, 'ended', iif(${starts} > today, 'starts later', 'running')) as state
    from it join contract_item r using (tenant)
    left join company c on c.tenant = r.tenant and c.id = r.companyId
    where not ${isSet('r.deletedAt')}`;

const contractFinding = (row: SqlRow, kinds: Record<string, string> = {}): Finding => ({
  id: String(row.id),
  name: text(row, 'service'),
  value: overYear(numberIn(row, 'revenue'), String(row.spoken)),
  currency: String(row.currency),
  kinds: { term: String(row.spoken), ...kinds },
});

function allContracts(ask: Ask, today: string, { days = 90 }: Parameters): CheckFindings {
  const rows = ask(contractsSql);
  const endOf = ({ state, ends }: SqlRow): Record<string, string> => {
    if (state !== 'running') return {};
    if (!ends) return { end: 'no end' };
    return { end: String(ends) <= later(today, days) ? 'ending' : 'ending later' };
  };
  return {
    examined: rows.length,
    findings: rows.map((row) => contractFinding(row, { state: String(row.state), ...endOf(row) })),
    additive: true,
  };
}

/** The contract items that run today, with the name of their company. */
export const runningContracts = (ask: Ask) =>
  ask(`${contractsSql} and state = 'running'`).map((row) => ({
    companyId: String(row.companyId),
    company: text(row, 'company') ?? 'no company',
    term: String(row.spoken),
    currency: String(row.currency),
    revenue: numberIn(row, 'revenue'),
    perYear: overYear(numberIn(row, 'revenue'), String(row.spoken)),
  }));

/** Recurring revenue of the month with this last day, by currency, and the number of its items. */
export function recurringOn(ask: Ask, last: string) {
  const rows = ask(
    `${contractsSql} and spoken in ('monthly', 'yearly')
      and coalesce(starts, '') <= ?3 and coalesce(ends, '9999') >= ?3`,
    last,
  ).map((row) => ({
    currency: String(row.currency),
    value: numberIn(row, 'revenue')?.div(row.spoken === 'yearly' ? 12 : 1),
  }));
  return only({
    month: last.slice(0, 7),
    items: rows.length,
    revenue: sumsBy(rows, (it) => it.value),
  });
}

function endingContracts(ask: Ask, today: string, { days = 90 }: Parameters): CheckFindings {
  const rows = ask(contractsSql);
  const last = later(today, days);
  return {
    examined: rows.length,
    findings: rows
      .filter(({ ends }) => ends !== null && String(ends) >= today && String(ends) <= last)
      .map((row) => contractFinding(row)),
    notChecked: rows.map(({ ends }) => (ends === null ? 'no end date' : undefined)),
    additive: true,
  };
}
