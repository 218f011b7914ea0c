import { Big } from 'big.js';
import { marginOf, numberIn, numbersIn, roundedOr, sumOf } from './decimal.ts';
import { counts, grouped, only } from './order.ts';
import {
  type Ask,
  currency,
  day,
  daysFrom,
  given,
  isSet,
  outcome,
  type SqlRow,
  statusCategory,
  term,
  textsIn,
} from './sql.ts';

const lineTexts = [
  'name',
  'productId',
  'mpn',
  'manufacturer',
  'categoryId',
  'categoryName',
] as const;
const lineNumbers = ['quantity', 'price', 'cost', 'discount', 'setupPrice', 'setupCost'] as const;

export interface Line
  extends Record<(typeof lineTexts)[number], string | undefined>,
    Record<(typeof lineNumbers)[number], Big | undefined> {
  position: number;
  id: string;
  term: string;
  blankTerm: boolean;
  /** The share of the price after the line's discount, as 0–1. */
  kept: Big;
  total: Big | undefined;
  totalCost: Big | undefined;
  hasSetup: boolean;
}

/** `outcome`: of its opportunity; undefined without one. */
const quoteTexts = [
  ...(['name', 'number', 'status', 'companyId', 'companyName', 'contactId', 'ownerId'] as const),
  ...(['ownerName', 'opportunityId', 'opportunityName', 'outcome', 'paymentTermId'] as const),
  ...(['sent', 'created', 'approved', 'declined', 'expires'] as const),
] as const;

export interface Quote extends Record<(typeof quoteTexts)[number], string | undefined> {
  id: string;
  statusCategory: string;
  currency: string;
  companyDeleted: boolean;
  contactDeleted: boolean;
  contactHasEmail: boolean;
  expiresIn: number;
  /** Since it was sent, else created. */
  daysOld: number | undefined;
  discountType: string;
  discountAmount: Big | undefined;
  lines: Line[];
}

const expires = day('q.expiresAt');

const quotesSql = `${given}
  select q.id, q.title as name, q.number, ${statusCategory} as statusCategory, q.status, q.contactId, q.paymentTermId,
    ${currency('c.currency')} as currency, q.companyId, c.name as companyName,
    ${isSet('c.deleted')} as companyDeleted, ${isSet('k.deleted')} as contactDeleted,
    coalesce(k.email, '') like '%@%' as contactHasEmail,
    q.ownerId, w.name as ownerName, q.opportunityId, o.name as opportunityName, iif(o.id is null, null, ${outcome}) as outcome,
    ${day('q.sentAt')} as sent, ${day('q.createdAt')} as created,
    ${day('q.approvedAt')} as approved, ${day('q.declinedAt')} as declined,
    ${daysFrom(`coalesce(${day('q.sentAt')}, ${day('q.createdAt')})`, 'today')} as daysOld,
    ${expires} as expires, ${daysFrom('today', expires)} as expiresIn,
    lower(trim(coalesce(q.discountType, ''))) as discountType, q.discountAmount
  from it join quote q using (tenant)
  left join company c on c.tenant = q.tenant and c.id = q.companyId
  left join contact k on k.tenant = q.tenant and k.id = q.contactId
  left join owner w on w.tenant = q.tenant and w.id = q.ownerId
  left join opportunity o on o.tenant = q.tenant and o.id = q.opportunityId`;

const linesSql = `${given}
  select i.*, k.name as categoryName, ${term('i.term')} as spokenTerm,
    trim(coalesce(i.term, '')) = '' as blankTerm
  from it join quote_item i using (tenant)
  left join category k on k.tenant = i.tenant and k.id = i.categoryId
  order by i.quoteId, i.rowid`;

/** Every quote of the tenant, including deleted ones, with its lines in order. */
export function quotesOf(ask: Ask): Quote[] {
  const lines = grouped(ask(linesSql), ({ quoteId }) => String(quoteId));
  return ask(quotesSql).map((row) => quoteOf(row, lines.get(String(row.id)) ?? []));
}

export function quoteOf(row: SqlRow, lines: readonly SqlRow[]): Quote {
  return {
    ...textsIn(row, quoteTexts),
    id: String(row.id),
    statusCategory: String(row.statusCategory),
    currency: String(row.currency),
    companyDeleted: row.companyDeleted === 1,
    contactDeleted: row.contactDeleted === 1,
    contactHasEmail: row.contactHasEmail === 1,
    expiresIn: Number(row.expiresIn),
    daysOld: row.daysOld === null ? undefined : Math.max(0, Number(row.daysOld)),
    discountType: String(row.discountType),
    discountAmount: numberIn(row, 'discountAmount'),
    lines: lines.map(lineOf),
  };
}

/** By its title, else by its number. */
export const titled = ({ id, name, number }: Quote) => ({ id, name: name ?? number });

/** Whether it can still be accepted. */
export function acceptanceOf({ statusCategory, expires, expiresIn }: Quote): string {
  if (statusCategory === 'approved') return 'accepted';
  const isOver = statusCategory === 'sent' && expires !== undefined && expiresIn < 0;
  if (statusCategory === 'expired' || isOver) return 'past expiry';
  return statusCategory === 'sent' ? 'open to acceptance' : statusCategory;
}

/** Whether it can be accepted now, or once it is sent. */
export const isOpen = (quote: Quote): boolean =>
  ['draft', 'open to acceptance'].includes(acceptanceOf(quote));

/** The state of its deal. */
export function dealStateOf({ opportunityId, outcome }: Quote): string {
  if (opportunityId === undefined) return 'none';
  return outcome === 'closed_unknown' ? 'closed' : (outcome ?? 'not_found');
}

/** The status category, or the status itself if it has none. */
export const statusOf = ({ statusCategory, status = '' }: Quote): string =>
  statusCategory === 'other' ? status.trim().toLowerCase() || 'no status' : statusCategory;

export function lineOf(row: SqlRow, at: number): Line {
  const numbers = numbersIn(row, lineNumbers);
  const { quantity, price, cost, discount, setupPrice, setupCost } = numbers;
  const kept = new Big(1).minus((discount ?? new Big(0)).div(100));
  const many = quantity ?? new Big(1);
  return {
    ...textsIn(row, lineTexts),
    ...numbers,
    position: at + 1,
    id: String(row.id),
    term: String(row.spokenTerm),
    blankTerm: Number(row.blankTerm) === 1,
    kept,
    total: price?.times(many).times(kept),
    totalCost: cost?.times(many),
    hasSetup: [setupPrice, setupCost].some((amount) => amount && !amount.eq(0)),
  };
}

export const defaultTerms = ['one-time', 'monthly', 'yearly'];

const isPercent = ({ discountType }: Quote): boolean =>
  ['percent', 'percentage', 'pct', '%'].includes(discountType);

const isAmount = ({ discountType }: Quote): boolean =>
  ['amount', 'fixed', 'absolute', 'value', 'money'].includes(discountType);

const hasDiscount = ({ discountAmount }: Quote): boolean =>
  discountAmount !== undefined && !discountAmount.eq(0);

/** The share of every price after the quote's discount, as 0–1. */
export function keptOf(quote: Quote): Big {
  if (!hasDiscount(quote) || !isPercent(quote)) return new Big(1);
  return new Big(1).minus((quote.discountAmount ?? new Big(0)).div(100));
}

/** An amount that comes off the one-time price. */
export function amountOff(quote: Quote): Big | undefined {
  return hasDiscount(quote) && isAmount(quote) ? quote.discountAmount : undefined;
}

export const notApplied = (quote: Quote): boolean =>
  hasDiscount(quote) && !isPercent(quote) && !isAmount(quote);

/** The totals of each term before the quote's discount, unrounded. */
export function grossOf({ lines }: Quote): Map<string, Big> {
  const parts = lines.flatMap((line): [string, Big | undefined][] => [
    [line.term, line.total],
    ['one-time', line.hasSetup ? line.setupPrice : undefined],
  ]);
  const totals = new Map<string, Big>();
  for (const [name, amount] of parts) {
    if (amount) totals.set(name, (totals.get(name) ?? new Big(0)).plus(amount));
  }
  return totals;
}

/** The totals of each term after all discounts, unrounded. */
export function netOf(quote: Quote): Map<string, Big> {
  const gross = grossOf(quote);
  const net = new Map([...gross].map(([name, amount]) => [name, amount.times(keptOf(quote))]));
  const off = amountOff(quote);
  if (off && gross.size > 0) net.set('one-time', (net.get('one-time') ?? new Big(0)).minus(off));
  return net;
}

export const reportedTotals = [
  ...['items', 'oneTime', 'monthly', 'yearly', 'otherTerms'],
  ...['unknownPrices', 'assumedQuantities', 'discountNotApplied'],
];

/** The totals as they are reported. */
export function totalsOf(quote: Quote): Record<string, unknown> {
  const net = netOf(quote);
  const others = [...net].filter(([name]) => !defaultTerms.includes(name));
  const { lines } = quote;
  const setups = lines.filter(({ hasSetup, setupPrice }) => hasSetup && !setupPrice);
  return only({
    items: lines.length,
    oneTime: roundedOr(net.get('one-time')),
    monthly: roundedOr(net.get('monthly')),
    yearly: roundedOr(net.get('yearly')),
    otherTerms:
      others.length === 0
        ? undefined
        : Object.fromEntries(others.map(([name, amount]) => [name, roundedOr(amount)])),
    ...counts({
      unknownPrices: lines.filter(({ price }) => !price).length + setups.length,
      assumedQuantities: lines.filter(({ quantity }) => !quantity).length,
    }),
    discountNotApplied: notApplied(quote) || undefined,
  });
}

/** An amount of a term over a year; undefined for another term. */
export function overYear(amount: Big | undefined, name: string): Big | undefined {
  return firstYearOf(new Map(amount && [[name, amount]]));
}

/** One-time + 12 × monthly + yearly of such totals; undefined where none is known. */
export function firstYearOf(net: ReadonlyMap<string, Big>): Big | undefined {
  return sumOf([net.get('one-time'), net.get('monthly')?.times(12), net.get('yearly')]);
}

interface Part {
  term: string;
  price: Big | undefined;
  cost: Big | undefined;
}

/** Lines and setups, each after the quote's percentage. */
function partsOf(quote: Quote): Part[] {
  const kept = keptOf(quote);
  return quote.lines.flatMap((line) => {
    const own = { term: line.term, price: line.total?.times(kept), cost: line.totalCost };
    // For profit, a setup that is not charged has a price of 0.
    const charged = line.setupPrice ?? (line.setupCost && new Big(0));
    const setup = { term: 'one-time', price: charged?.times(kept), cost: line.setupCost };
    return line.hasSetup ? [own, setup] : [own];
  });
}

/** Price, cost and profit of each term. */
export function termsOf(quote: Quote): Record<string, unknown>[] {
  const parts = grouped(partsOf(quote), (part) => part.term);
  const net = netOf(quote);
  const names = [...new Set([...parts.keys(), ...net.keys()])].sort(byTerm);
  return names.map((name) => {
    const these = parts.get(name) ?? [];
    const { price, cost } = judgedOf(quote, name, these);
    return only({
      term: name,
      price: roundedOr(price),
      cost: roundedOr(cost),
      profit: price && cost && roundedOr(price.minus(cost)),
      margin: marginOf(price, cost),
      withoutPriceOrCost: counts({ all: these.filter((part) => !part.price || !part.cost).length })
        ?.all,
    });
  });
}

/** Sums of the parts with a price and a cost, after all discounts. */
export function judgedOf(
  quote: Quote,
  name: string,
  parts: readonly Part[] = partsOf(quote).filter((part) => part.term === name),
): { before: Big | undefined; price: Big | undefined; cost: Big | undefined } {
  const judged = parts.filter((part) => part.price && part.cost);
  const before = sumOf(judged.map((part) => part.price));
  const cost = sumOf(judged.map((part) => part.cost));
  const off = name === 'one-time' ? amountOff(quote) : undefined;
  if (off && parts.length === 0 && grossOf(quote).size > 0)
    return { before, cost: new Big(0), price: off.times(-1) };
  return { before, cost, price: off && before ? before.minus(off) : before };
}

function byTerm(one: string, other: string): number {
  const place = (name: string) => [...defaultTerms, name].indexOf(name);
  return place(one) - place(other) || (one < other ? -1 : 1);
}

export function lineRowOf(line: Line): Record<string, unknown> {
  return only({
    line: line.position,
    quantity: roundedOr(line.quantity, 10),
    price: roundedOr(line.price, 4),
    // Not rounded further: the total must follow from it.
    discount: line.discount?.eq(0) ? undefined : roundedOr(line.discount, 10),
    term: line.term,
    total: roundedOr(line.total),
    cost: roundedOr(line.cost, 4),
    margin: marginOf(line.price?.times(line.kept), line.cost),
    setupPrice: line.hasSetup ? roundedOr(line.setupPrice, 4) : undefined,
    setupCost: line.hasSetup ? roundedOr(line.setupCost, 4) : undefined,
  });
}
