import type { Big } from 'big.js';
import { type Deal, dealsOf } from './deals.ts';
import { numberIn, roundedOr, sumsBy } from './decimal.ts';
import { byName, counts, descending, grouped, only } from './order.ts';
import { later } from './pipeline.ts';
import { type Product, partOf, productsOf } from './products.ts';
import { firstYearOf, keptOf, type Line, netOf, type Quote, quotesOf } from './quotes.ts';
import { type Ask, contactName, day, given, isSet, standing, text } from './sql.ts';

interface Finding {
  id: string;
  name?: string | undefined;
  value?: Big | undefined;
  currency: string;
}

export interface Report {
  examined: number;
  unjudged?: Record<string, number>;
  valueAtStake?: Record<string, number>;
  unknownValue?: number;
  total: number;
  rows: { id: string; valueAtStake?: number; currency?: string }[];
}

export interface Parameters {
  floor?: number;
  days?: number;
  tolerance?: number;
}

interface CheckFindings {
  examined: number;
  findings: Finding[];
  unjudged?: (string | undefined)[];
  /** Whether a finding of this check is worth money at all. */
  worthless?: boolean;
}

type Check = (ask: Ask, today: string, parameters: Parameters) => CheckFindings;

const nowhere = 'unknown currency';

/** Each check, by the definitions. */
export const checks: Record<string, Check> = {
  thin_margins: (ask, _, { floor = 10 }) =>
    priced(ask, ({ price, cost }) => {
      const least = price.abs().times(floor).div(100);
      const margin = price.minus(cost);
      return margin.lt(least) ? least.minus(margin) : undefined;
    }),
  below_cost: (ask) =>
    priced(ask, ({ price, cost }) => (price.lt(cost) ? cost.minus(price) : undefined)),
  stale_quotes: stale,
  expiring_quotes: expiring,
  pricing_drift: drift,
  unlisted_on_quotes: unlisted,
  duplicate_products: duplicates,
  missing_external_ids: withoutExternalId,
  stalled_opportunities: (ask, _, { days = 30 }) => {
    const open = openDeals(ask);
    return {
      examined: open.length,
      findings: open.filter((it) => it.lastChange && it.idleDays >= days).map(worth),
      unjudged: open.map((it) => (it.lastChange ? undefined : 'no date of any change')),
    };
  },
  missing_close_dates: (ask) => {
    const open = openDeals(ask);
    return { examined: open.length, findings: open.filter(({ closes }) => !closes).map(worth) };
  },
  contacts_without_email: withoutEmail,
};

/** The report of one check, its findings in their order. */
export function expectedReport(
  check: string,
  ask: Ask,
  today: string,
  parameters: Parameters = {},
): Report {
  const run = checks[check];
  if (!run) throw new Error(`There is no check ${check}`);
  const { examined, findings, unjudged = [], worthless = false } = run(ask, today, parameters);
  const reasons = grouped(
    unjudged.filter((reason) => reason !== undefined),
    (reason) => reason,
  );
  const rows = [...findings].sort(
    (one, other) => descending(one.value, other.value) || byName(one, other),
  );
  return only({
    examined,
    unjudged: counts(Object.fromEntries([...reasons].map(([key, all]) => [key, all.length]))),
    valueAtStake: sumsBy(rows, ({ value }) => value),
    unknownValue: worthless
      ? undefined
      : counts({ all: rows.filter((it) => !it.value).length })?.all,
    total: rows.length,
    rows: rows.map(({ id, value, currency }) =>
      only({ id, valueAtStake: roundedOr(value), currency: value && currency }),
    ),
  }) as Report;
}

const openDeals = (ask: Ask): Deal[] => dealsOf(ask).filter(({ outcome }) => outcome === 'open');

const worth = ({ id, name, value, currency }: Deal): Finding => ({ id, name, value, currency });

const listedProducts = (ask: Ask): Product[] => productsOf(ask).filter(({ listed }) => listed);

function priced(
  ask: Ask,
  stake: (known: { price: Big; cost: Big }) => Big | undefined,
): CheckFindings {
  const products = listedProducts(ask);
  const findings = products.flatMap(({ id, name, price, cost }) => {
    const value = price && cost && stake({ price, cost });
    return value ? [{ id, name, value, currency: nowhere }] : [];
  });
  return { examined: products.length, findings, unjudged: products.map(whyUnpriced) };
}

function whyUnpriced({ price, cost }: Product): string | undefined {
  if (price && cost) return undefined;
  if (!price && !cost) return 'no price and no cost';
  return price ? 'no cost' : 'no price';
}

const offered = ({ id, name, number, currency }: Quote, value: Big | undefined): Finding => ({
  id,
  name: name ?? number,
  value,
  currency,
});

function stale(ask: Ask, today: string, { days = 14 }: Parameters): CheckFindings {
  const answered = `${day('q.approvedAt')} >= ${day('q.sentAt')} or ${day('q.declinedAt')} >= ${day('q.sentAt')}`;
  const sql = `${given} select q.id from it join quote q using (tenant)
    where ${standing} = 'sent' and ${day('q.sentAt')} <= ?3
      and not coalesce(${answered}, ${day('q.approvedAt')} >= ${day('q.sentAt')},
        ${day('q.declinedAt')} >= ${day('q.sentAt')}, 0)`;
  const ids = new Set(ask(sql, later(today, -days)).map(({ id }) => id));
  const sent = quotesOf(ask).filter((quote) => quote.standing === 'sent');
  return {
    examined: sent.length,
    findings: sent.filter(({ id }) => ids.has(id)).map((it) => offered(it, firstYearOf(netOf(it)))),
    unjudged: sent.map((quote) => (quote.sent ? undefined : 'no sending date')),
  };
}

export const isOpen = (quote: Quote): boolean => ['draft', 'sent'].includes(quote.standing);

function expiring(ask: Ask, _: string, { days = 14 }: Parameters): CheckFindings {
  const open = quotesOf(ask).filter(isOpen);
  return {
    examined: open.length,
    findings: open
      .filter(({ expires, expiresIn }) => expires && expiresIn >= 0 && expiresIn <= days)
      .map((quote) => offered(quote, firstYearOf(netOf(quote)))),
    unjudged: open.map(({ expires }) => (expires ? undefined : 'no expiry date')),
  };
}

/** Whether a row with `validFrom` and `validTo` holds a day; a missing end is open. */
export const bookHolds = (row: string, when: string): string =>
  `${when} >= coalesce(${day(`${row}.validFrom`)}, '')
    and ${when} <= coalesce(${day(`${row}.validTo`)}, '9999')`;

/** Prices of books on a day: the book holds it, and so does the price itself. */
export const validOn = (when: string): string =>
  ['b', 'e'].map((row) => bookHolds(row, when)).join(' and ');

function drift(ask: Ask, _: string, { tolerance = 5 }: Parameters): CheckFindings {
  const prices = ask(`${given}
    select e.productId, e.price, p.id, p.name, p.listed, p.price as catalogue
    from it join pricing_book b using (tenant)
    join pricing_book_product e on e.tenant = b.tenant and e.pricingBookId = b.id
    left join product p on p.tenant = b.tenant and p.id = e.productId
    where ${validOn('today')}`);
  const found: Finding[] = [];
  const unjudged = prices.map((row) => {
    const [book, catalogue] = [numberIn(row, 'price'), numberIn(row, 'catalogue')];
    if (row.id === null) return 'product not in the catalogue';
    if (row.listed === 0) return 'product unlisted';
    if (!book) return 'no price in the book';
    if (!catalogue) return 'no price in the catalogue';
    if (catalogue.eq(0)) return 'price 0 in the catalogue';
    const value = book.minus(catalogue).abs();
    if (value.times(100).gt(catalogue.abs().times(tolerance)))
      found.push({ id: String(row.id), name: text(row, 'name'), value, currency: nowhere });
    return undefined;
  });
  return { examined: prices.length, findings: found, unjudged };
}

/** The product of a line: by its id, else the only product that is the same part. */
export function productFinder(products: readonly Product[]) {
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
  const open = quotesOf(ask).filter(isOpen);
  const lines = open.flatMap((quote) => quote.lines);
  const findings = open.flatMap((quote) => {
    const gone = quote.lines.filter((line) => productOf(line)?.listed === false);
    // An amount is taken off the quote, and off none of its lines.
    const part = { ...quote, lines: gone, discountAmount: undefined };
    const kept = keptOf(quote);
    return gone.length === 0 ? [] : [offered(quote, firstYearOf(netOf(part))?.times(kept))];
  });
  const unjudged = lines.map((line) => {
    if (productOf(line)) return undefined;
    return line.productId ? 'product not in the catalogue' : 'item names no product';
  });
  return { examined: lines.length, findings, unjudged };
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
      const prices = same.flatMap(({ price }) => price ?? []).sort((one, other) => one.cmp(other));
      const [lowest, highest] = [prices.at(0), prices.at(-1)];
      const value = prices.length > 1 && lowest && highest?.minus(lowest);
      return first
        ? [{ id: first.id, name: first.name, value: value || undefined, currency: nowhere }]
        : [];
    }),
    unjudged: products.map(({ unjudgedPart }) => unjudgedPart),
  };
}

function withoutExternalId(ask: Ask): CheckFindings {
  const rows = ask(`${given}, every as (
      select tenant, id, name, externalIdentifier e from company where not ${isSet('deleted')}
      union all select tenant, id, ${contactName}, externalIdentifier from contact
        where not ${isSet('deleted')}
      union all select tenant, id, name, externalIdentifier from product
        where coalesce(listed, 1) <> 0
      union all select tenant, id, name, externalIdentifier from opportunity
        where not ${isSet('deletedAt')})
    select every.id, name, trim(coalesce(e, '')) = '' as without from it join every using (tenant)`);
  return { examined: rows.length, findings: found(rows), worthless: true };
}

function withoutEmail(ask: Ask): CheckFindings {
  const rows = ask(`${given} select c.id, ${contactName} as name,
      coalesce(email, '') not like '%@%' as without
    from it join contact c using (tenant) where not ${isSet('deleted')}`);
  return { examined: rows.length, findings: found(rows), worthless: true };
}

const found = (rows: ReturnType<Ask>): Finding[] =>
  rows
    .filter(({ without }) => without === 1)
    .map((row) => ({ id: String(row.id), name: text(row, 'name'), currency: nowhere }));
