import { Big } from 'big.js';
import type { Deal } from './deals.ts';
import { sumsBy } from './decimal.ts';
import { grouped } from './order.ts';
import { type Line, overYear, quotesOf } from './quotes.ts';
import { type Ask, day, given, isSet, statusCategory } from './sql.ts';

/** The last quote of each opportunity: an accepted one before others, then by day of creation and id. */
const lastSql = `${given}, ranked as (
  select q.id, row_number() over (
    partition by q.opportunityId
    order by ${statusCategory} = 'approved' desc, ${day('q.createdAt')} desc, q.id desc) as place
  from it join quote q using (tenant)
  where q.opportunityId is not null and not ${isSet('q.deletedAt')})
  select id from ranked where place = 1`;

interface Share {
  id?: string | undefined;
  name?: string | undefined;
  count: number;
  value: Record<string, number>;
}

/**
 * Tells number and value of deals by what the lines of their last quotes are of. Each group is there twice: as a row
 * with its id, and as one with its name alone.
 */
export function sharesOf(ask: Ask, by: 'product' | 'category'): (deals: Deal[]) => Share[] {
  const ids = new Set(ask(lastSql).map(({ id }) => id));
  const last = quotesOf(ask).filter(({ id }) => ids.has(id));
  const linesOf = new Map(last.map(({ opportunityId, lines }) => [opportunityId, lines]));
  return (deals) => {
    const parts = deals.flatMap((deal) => partsOf(deal, linesOf.get(deal.id) ?? [], by));
    return [...grouped(parts, ({ key }) => key).values()].flatMap((group) => {
      const [{ id } = { id: undefined }] = group;
      const [name] = group.map((part) => part.name ?? '').sort(byLetters);
      const figures = { count: group.length, value: sumsBy(group, ({ value }) => value) ?? {} };
      return [
        { id, ...figures },
        { name: name || `no product${by === 'product' ? '' : ' category'}`, ...figures },
      ];
    });
  };
}

const byLetters = (one: string, other: string): number =>
  one.toLowerCase() < other.toLowerCase() ? -1 : 1;

function partsOf(deal: Deal, lines: readonly Line[], by: 'product' | 'category') {
  const labelOf = (line: Line) =>
    by === 'product'
      ? { id: line.productId, name: line.name }
      : { id: line.categoryId, name: line.categoryName };
  const keyOf = ({ id, name }: ReturnType<typeof labelOf>) =>
    id ?? `named ${name?.trim().toLowerCase()}`;
  const groups = [...grouped(lines, (line) => keyOf(labelOf(line)))].flatMap(([key, own]) => {
    const worth = own.reduce((sum, line) => sum.plus(worthOf(line)), new Big(0));
    return own[0] && worth.gt(0) ? [{ key, worth, ...labelOf(own[0]) }] : [];
  });
  const all = groups.reduce((sum, { worth }) => sum.plus(worth), new Big(0));
  const { currency, value } = deal;
  if (groups.length === 0)
    return [{ key: 'none', id: undefined, name: 'no quote lines', currency, value }];
  return groups.map(({ key, id, name, worth }) => ({
    ...{ key, id, name, currency },
    value: value?.times(worth).div(all),
  }));
}

/** Over a year, with the setup, after the discount of the line. */
const worthOf = (line: Line): Big =>
  (overYear(line.total, line.term) ?? new Big(0)).plus(
    (line.hasSetup && line.setupPrice) || new Big(0),
  );
