import type { Big } from 'big.js';
import { known, marginOf, numberIn, rounded, roundedOr } from './decimal.ts';
import { byName, compare, only } from './order.ts';
import { appliesTo, nearness } from './preflight.ts';
import { type Ask, day, given, type SqlRow, term, text } from './sql.ts';

type Reported = Record<string, unknown>;

/** A company and a product of the tenant, by id. */
export interface Pair {
  company: string;
  product: string;
  /** Default: today. */
  on?: string;
}

/** Products of books, each with a company of its book if it names one; and some products without a book. */
export function pairsOf(ask: Ask): Pair[] {
  const ids = (table: string) =>
    ask(`${given} select r.id from it join ${table} r using (tenant) order by r.id`).map(({ id }) =>
      String(id),
    );
  const companies = ids('company');
  const companyAt = (at: number): string => companies[(at * 37) % companies.length] ?? '';
  const priced = ask(`${given} select e.productId as product, b.companyIds as named
    from it join pricing_book b using (tenant)
    join pricing_book_product e on e.tenant = b.tenant and e.pricingBookId = b.id
    join product p on p.tenant = b.tenant and p.id = e.productId order by b.id, e.productId`);
  const ofBooks = priced.map(({ product, named }, at): Pair => {
    const its: string[] = JSON.parse(String(named ?? '[]'));
    return { product: String(product), company: its[at % its.length] ?? companyAt(at) };
  });
  const others = ids('product').map((product, at) => ({ product, company: companyAt(at) }));
  return [...ofBooks.filter((_, at) => at % 2 === 0), ...others.filter((_, at) => at % 9 === 0)];
}

const later = (one: string, other: string) =>
  `nullif(max(coalesce(${one}, ''), coalesce(${other}, '')), '')`;
const earlier = (one: string, other: string) =>
  `nullif(min(coalesce(${one}, '9999'), coalesce(${other}, '9999')), '9999')`;

const pricesSql = `${given}, entry as (
    select b.id, b.name, b.specialBidNumber, e.price, e.cost, coalesce(?5, today) as asked,
      ${appliesTo('c.id', 'c.classificationId')} as appliesTo,
      ${later(day('b.validFrom'), day('e.validFrom'))} as validFrom,
      ${earlier(day('b.validTo'), day('e.validTo'))} as validTo
    from it join company c on c.tenant = it.tenant and c.id = ?3
    join pricing_book b on b.tenant = it.tenant
    join pricing_book_product e on e.tenant = b.tenant and e.pricingBookId = b.id
    where e.productId = ?4)
  select *, case when validTo < asked then 'expired'
    when validFrom > asked then 'not yet valid' end as outside from entry`;

interface Price {
  id: string;
  name: string | undefined;
  appliesTo: string | undefined;
  price: Big | undefined;
  cost: Big | undefined;
  bid: string | undefined;
  validFrom: string | undefined;
  validTo: string | undefined;
  why: string | undefined;
}

function priceIn(row: SqlRow, productCost: Big | undefined): Price {
  const price = numberIn(row, 'price');
  const open = row.appliesTo === 'unclear' ? 'unclear whether it applies' : undefined;
  return {
    id: String(row.id),
    name: text(row, 'name'),
    appliesTo: text(row, 'appliesTo'),
    price,
    cost: numberIn(row, 'cost') ?? productCost,
    bid: text(row, 'specialBidNumber'),
    validFrom: text(row, 'validFrom'),
    validTo: text(row, 'validTo'),
    why: text(row, 'outside') ?? (price ? open : 'no price'),
  };
}

const reasons = [
  'not yet valid',
  'no price',
  'unclear whether it applies',
  'expired',
  'book deleted',
];

/** The expected answer on the price of a product for a company, as defined in docs/definitions.md. */
export function expectedPrices(ask: Ask, { company, product: id, on }: Pair): Reported {
  const [product = {}] = ask(
    `${given} select p.*, ${term('p.term')} as spoken from it join product p using (tenant) where p.id = ?3`,
    id,
  );
  const list = { price: numberIn(product, 'price'), cost: numberIn(product, 'cost') };
  const all = ask(pricesSql, company, id, on ?? null).map((row) => priceIn(row, list.cost));
  const valid = all.filter(({ why }) => why === undefined);
  const ours = valid.filter(({ appliesTo }) => appliesTo !== undefined).sort(byPrice);
  const others = all.filter(({ why, appliesTo }) => why && appliesTo).sort(byReason);
  const known = [list.price, ...ours.map(({ price }) => price)].filter((it) => it !== undefined);
  const lowest = known.reduce<Big | undefined>(
    (low, price) => (low?.lte(price) ? low : price),
    undefined,
  );
  const row = (price: Price) => rowOf(price, list.price, lowest);
  const isListLowest = ours.length > 0 && list.price && lowest?.eq(list.price);
  const counts = reasons.map((why) => [why, others.filter((it) => it.why === why).length]);
  return only({
    term: product.spoken,
    listed: product.listed === 0 ? false : undefined,
    list: only({ ...figuresOf(list), marks: isListLowest ? ['lowest'] : undefined }),
    prices: ours.map(row),
    reasons:
      others.length === 0 ? undefined : Object.fromEntries(counts.filter(([, count]) => count)),
    notCounted: others.length === 0 ? undefined : others.map(row),
    discounts: discountsOf(ask, company, id, list.price),
  });
}

const figuresOf = ({ price, cost }: { price: Big | undefined; cost: Big | undefined }) =>
  only({ price: roundedOr(price, 4), cost: roundedOr(cost, 4), margin: marginOf(price, cost) });

function rowOf(entry: Price, list: Big | undefined, lowest: Big | undefined): Reported {
  const { id, appliesTo, price, cost, bid, validFrom, validTo, why } = entry;
  const marks = [
    ...(appliesTo === 'company' ? ['own'] : []),
    ...(price && lowest?.eq(price) ? ['lowest'] : []),
  ];
  const below =
    price && list?.gt(0) ? rounded(list.minus(price).times(100).div(list), 1) : undefined;
  return only({
    id,
    appliesTo,
    ...figuresOf({ price, cost }),
    belowList: below,
    specialBidNumber: bid,
    validFrom,
    validTo,
    marks: why === undefined && marks.length > 0 ? marks : undefined,
    why,
  });
}

const byBook = (one: Price, other: Price): number =>
  nearness.indexOf(one.appliesTo ?? '') - nearness.indexOf(other.appliesTo ?? '') ||
  byName(one, other) ||
  compare(one.validFrom, other.validFrom) ||
  compare(one.validTo, other.validTo);

const byPrice = (one: Price, other: Price): number =>
  (one.price && other.price ? one.price.cmp(other.price) : 0) || byBook(one, other);

const byReason = (one: Price, other: Price): number =>
  reasons.indexOf(one.why ?? '') - reasons.indexOf(other.why ?? '') || byBook(one, other);

const discountsSql = `${given.replace('with', 'with recursive')}, own(id) as (
    select p.categoryId from it join product p using (tenant) where p.id = ?4
    union select json_extract(j.value, '$.id') from it join product p using (tenant),
      json_each(coalesce(p.categories, '[]')) j where p.id = ?4),
  above(id) as (
    select k.parentCategoryId from it join category k using (tenant) join own on own.id = k.id
    union select k.parentCategoryId from it join category k using (tenant)
      join above on above.id = k.id)
  select b.id, b.name, ${appliesTo('c.id', 'c.classificationId')} as appliesTo, d.key as position,
    json_extract(d.value, '$.amount') as amount, k.name as category,
    k.id in (select id from own) as isOwn
  from it join company c on c.tenant = it.tenant and c.id = ?3
  join discount_group b on b.tenant = it.tenant, json_each(coalesce(b.discounts, '[]')) d
  join category k on k.tenant = it.tenant and k.id = json_extract(d.value, '$.categoryId')
  where k.id in (select id from own union select id from above)`;

/** All discounts of the sandbox are percentages on categories. */
function discountsOf(ask: Ask, company: string, product: string, list: Big | undefined) {
  const rows = ask(discountsSql, company, product)
    .filter(({ appliesTo }) => appliesTo !== null && appliesTo !== 'everyone')
    .map((row) => ({
      row,
      id: String(row.id),
      name: text(row, 'name'),
      appliesTo: String(row.appliesTo),
    }));
  const sorted = rows.sort(
    (one, other) =>
      nearness.indexOf(one.appliesTo) - nearness.indexOf(other.appliesTo) ||
      byName(one, other) ||
      Number(one.row.position) - Number(other.row.position),
  );
  return sorted.map(({ row, id, appliesTo }) => {
    const percent = known(row.amount);
    const less =
      appliesTo !== 'unclear' && list && percent && list.minus(list.times(percent).div(100));
    return only({
      id,
      appliesTo,
      discount: `${row.amount} % on ${row.category}`,
      on: row.isOwn === 1 ? 'category' : 'parent category',
      listPriceAfterDiscount: less ? rounded(less, 4) : undefined,
    });
  });
}
