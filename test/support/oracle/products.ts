import type { Big } from 'big.js';
import { numberIn } from './decimal.ts';
import { type Ask, given, term, text } from './sql.ts';

export interface Product {
  id: string;
  name: string | undefined;
  listed: boolean;
  price: Big | undefined;
  cost: Big | undefined;
  term: string;
  blankTerm: boolean;
  /** Normalised manufacturer and part number; undefined without either. */
  part: string | undefined;
  unjudgedPart: string | undefined;
}

const productsSql = `${given}
  select p.*, ${term('p.term')} as spokenTerm, trim(coalesce(p.term, '')) = '' as blankTerm
  from it join product p using (tenant)`;

/** Every product of the tenant, including bundles. */
export function productsOf(ask: Ask): Product[] {
  return ask(productsSql).map((row) => {
    const maker = [text(row, 'manufacturer'), text(row, 'vendor')].find(
      (name) => bare(name) !== '',
    );
    const { part, missing } = partOf(maker, text(row, 'mpn'));
    return {
      id: String(row.id),
      name: text(row, 'name'),
      listed: row.listed !== 0,
      price: numberIn(row, 'price'),
      cost: numberIn(row, 'cost'),
      term: String(row.spokenTerm),
      blankTerm: Number(row.blankTerm) === 1,
      part,
      unjudgedPart: missing,
    };
  });
}

/** A key that is equal for all spellings of a part. */
export function partOf(maker: string | undefined, mpn: string | undefined) {
  if (bare(mpn) === '') return { part: undefined, missing: 'no part number' };
  if (bare(maker) === '') return { part: undefined, missing: 'no manufacturer' };
  return { part: `${bare(maker)} ${bare(mpn)}`, missing: undefined };
}

const bare = (name: string | undefined): string =>
  (name ?? '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
