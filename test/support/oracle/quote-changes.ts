import type { Big } from 'big.js';
import { grouped } from './order.ts';
import {
  type AskedChanges,
  cents,
  type Entry,
  minus,
  plus,
  stepsOf,
  totalOf,
} from './pipeline-changes.ts';
import { acceptanceOf, firstYearOf, netOf, type Quote, quoteOf } from './quotes.ts';
import { type Ask, currency, day, daysFrom, statusCategory, term } from './sql.ts';

/** A quote at the end of a day, from the versions in the database. */
interface DayQuote extends Quote {
  declined: string | undefined;
  expired: string | undefined;
  value: Big | undefined;
}

const latest = `v.tenant = it.tenant and v.rowid = (
    select w.rowid from quote_version w
    where w.tenant = v.tenant and w.quoteId = v.quoteId and w.at <= it.today || 'T23:59:59.999Z'
    order by w.at desc, w.rowid desc limit 1)`;
const given = 'with it(tenant, today) as (values (?, ?))';
const columns = (from: string, paths: Readonly<Record<string, string>>): string =>
  Object.entries(paths)
    .map(([name, path]) => `json_extract(${from}, '$.${path}') as ${name}`)
    .join(', ');

const own = ['id', 'title', 'number', 'status'];
const times = [
  'createdAt',
  'sentAt',
  'approvedAt',
  'declinedAt',
  'expiredAt',
  'expiresAt',
  'deletedAt',
];
const references = { companyId: 'company.id', ownerId: 'owner.id', ownerName: 'owner.name' };
const discount = { type: 'discount.type', discountAmount: 'discount.amount' };
const quoteFields = {
  ...Object.fromEntries([...own, ...times].map((name) => [name, name])),
  ...references,
  ...discount,
};

const quotesSql = `${given}, q as (
    select it.today, v.tenant, ${columns('v.record', quoteFields)} from it join quote_version v on ${latest})
  select q.*, ${statusCategory} as statusCategory, ${currency('c.currency')} as currency, c.name as companyName,
    ${day('q.sentAt')} as sent, ${day('q.createdAt')} as created, ${day('q.approvedAt')} as approved,
    ${day('q.declinedAt')} as declined, ${day('q.expiresAt')} as expires,
    coalesce(${day('coalesce(q.expiredAt, q.expiresAt)')}, '') as expired,
    ${daysFrom('today', day('q.expiresAt'))} as expiresIn,
    lower(trim(coalesce(q.type, ''))) as discountType
  from q left join company c on c.tenant = q.tenant and c.id = q.companyId`;

const lineFields = ['quantity', 'price', 'cost', 'discount', 'setupPrice', 'setupCost', 'term'];
const linesSql = `${given}, i as (
    select v.quoteId, ${columns('e.value', Object.fromEntries(lineFields.map((it) => [it, it])))}
    from it join quote_version v on ${latest} join json_each(v.record, '$.items') e)
  select i.*, ${term('i.term')} as spokenTerm, 0 as blankTerm from i`;

function quotesOn(ask: Ask, on: string): Map<string, DayQuote> {
  const lines = grouped(ask(linesSql, on), ({ quoteId }) => String(quoteId));
  const quotes = ask(quotesSql, on).map((row): DayQuote => {
    const quote = quoteOf(row, lines.get(String(row.id)) ?? []);
    return {
      ...quote,
      expired: String(row.expired) || undefined,
      value: firstYearOf(netOf(quote)),
    };
  });
  return new Map(quotes.map((quote) => [quote.id, quote]));
}

const ends: Record<string, string> = {
  accepted: 'accepted',
  declined: 'declined',
  'past expiry': 'expired',
  other: 'otherStatus',
};

const endDay = (quote: DayQuote): string | undefined =>
  ({ accepted: quote.approved, declined: quote.declined, 'past expiry': quote.expired })[
    acceptanceOf(quote)
  ];

const isOpen = (quote: DayQuote): boolean =>
  ['draft', 'open to acceptance'].includes(acceptanceOf(quote));

/** The figures of the quotes of the ends of two days, by the definitions. */
export function expectedQuoteChanges(
  ask: Ask,
  [from, to]: readonly [string, string],
  asked: Pick<AskedChanges, 'owner' | 'company' | 'currency'>,
) {
  const [before, after] = [quotesOn(ask, from), quotesOn(ask, to)];
  const fits = ({ ownerId, companyId, currency }: DayQuote): boolean =>
    (asked.owner ?? ownerId) === ownerId &&
    (asked.company ?? companyId) === companyId &&
    (asked.currency ?? currency) === currency;
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  const entries = ids.flatMap((id) => entriesOf(before.get(id), after.get(id), from, fits));
  const sent = [...after.values()].filter(
    (quote) => fits(quote) && wasSent(before.get(quote.id), quote, from),
  );
  const { unknownValue: _, ...totalSent } = totalOf(sent);
  return {
    opening: totalOf([...before.values()].filter((it) => isOpen(it) && fits(it))),
    closing: totalOf([...after.values()].filter((it) => isOpen(it) && fits(it))),
    steps: stepsOf(entries),
    sent: sent.length === 0 ? undefined : totalSent,
  };
}

function entriesOf(
  was: DayQuote | undefined,
  is: DayQuote | undefined,
  from: string,
  fits: (quote: DayQuote) => boolean,
): Entry[] {
  const present = is?.statusCategory === 'deleted' ? undefined : is;
  if (was && isOpen(was) && fits(was)) return fromOpen(was, present, fits);
  return present && fits(present) ? fromElsewhere(was, present, from) : [];
}

const endOf = (quote: DayQuote): string | undefined =>
  isOpen(quote) ? undefined : ends[acceptanceOf(quote)];

function fromOpen(
  was: DayQuote,
  is: DayQuote | undefined,
  fits: (quote: DayQuote) => boolean,
): Entry[] {
  if (!is) return [minus('removed', was)];
  const end = endOf(is);
  if (end) return [...valueChange(was, is), minus(end, is)];
  return fits(is) ? valueChange(was, is) : [minus('transferredOut', was)];
}

function fromElsewhere(was: DayQuote | undefined, is: DayQuote, from: string): Entry[] {
  const end = endOf(is);
  if (!was) {
    if (!end) return [plus('new', is)];
    return (endDay(is) ?? '') > from ? [plus('new', is), minus(end, is)] : [];
  }
  const entry = plus(isOpen(was) ? 'transferredIn' : 'reopened', is);
  if (!end) return [entry];
  const isNewAnswer =
    ['accepted', 'declined'].includes(end) && acceptanceOf(was) !== acceptanceOf(is);
  return isOpen(was) || isNewAnswer ? [entry, minus(end, is)] : [];
}

function valueChange(was: DayQuote, is: DayQuote): Entry[] {
  const value = cents(is).minus(cents(was));
  if (value.eq(0)) return [];
  const isKnown = was.value && is.value;
  return [{ ...is, step: isKnown ? (value.gt(0) ? 'valueUp' : 'valueDown') : 'valueKnown', value }];
}

function wasSent(was: DayQuote | undefined, is: DayQuote, from: string): boolean {
  if (is.statusCategory === 'deleted') return false;
  if (is.sent === undefined)
    return is.statusCategory === 'sent' && (was === undefined || was.statusCategory === 'draft');
  return was ? was.sent === undefined || is.sent > was.sent : is.sent > from;
}
