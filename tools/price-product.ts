import * as z from 'zod';
import { type ProductPrices, productPrices } from '../src/briefs/prices/product-prices.ts';
import { restsOn } from '../src/briefs/rests-on.ts';
import type { Day } from '../src/figures/days.ts';
import { formatNumber } from '../src/figures/money.ts';
import { plural } from '../src/figures/naming.ts';
import type { PartOf } from '../src/reading/parts.ts';
import type { Resource } from '../src/service/records/records.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import { identifier, join, quote, type Wording, wording } from '../src/text/untrusted-text.ts';
import { toCoverage, today } from '../src/tool-kit/answers.ts';
import { defineTool } from '../src/tool-kit/define-tool.ts';
import { recordOrQuestion } from '../src/tool-kit/one-record.ts';
import { answerWithRows, limitLists } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

const maxRows = 30;

export const priceProduct = defineTool({
  name: 'cpq_price_product',
  title: 'Price a product for a company',
  description:
    'What a company may be quoted for a product on a day: list price, cost, prices of pricing books that apply, lowest and own marked, discount groups.',
  toolset: 'briefs',
  needs: ['company:read', 'product:read'],
  input: z.strictObject({
    company: schemas.nameOfRecord.describe('Id, external identifier or name'),
    product: schemas.nameOfRecord.describe('Or part number'),
    on: schemas.plainDay,
  }),
  output: { coverage: schemas.coverage.optional() },
  async run(tenant, args, call) {
    const company = await recordOrQuestion(tenant, 'company', args.company, call);
    if (company.question) return company.question;
    const product = await recordOrQuestion(tenant, 'product', args.product, call);
    if (product.question) return product.question;
    const read: Partial<Record<Resource, PartOf>> = {
      company: { only: [company.record] },
      product: { only: [product.record] },
    };
    const { records, coverage, omitted } = await readCollections(
      tenant,
      ['company', 'product'],
      ['pricing_book', 'discount_group', 'category'],
      call,
      restsOn.price,
      (resource) => read[resource],
    );
    const about = { ...records, company: company.record, product: product.record };
    const found = productPrices(about, args.on ?? today());
    return answerWithRows(maxRows, (count) => ({
      summary: pricesSummary(found),
      data: { ...limitLists({ ...found }, count), coverage: toCoverage(coverage) },
      notes: [...caveats(found), ...omitted],
    }));
  },
});

/** Deletions first; the rows have the prices, their marks and why others are not counted. */
function pricesSummary(found: ProductPrices): Wording {
  const { on, company, product, currency, list, prices, discounts, notCounted } = found;
  const known = (named: { name?: string; id?: string }) => quote(named.name ?? named.id ?? '');
  const part = product.mpn !== undefined && wording` (${identifier(product.mpn)})`;
  const code = currency !== undefined && wording` ${identifier(currency)}`;
  const price =
    list.price === undefined
      ? 'no list price'
      : wording`list price ${formatNumber(list.price)}${code}`;
  const cost = list.cost === undefined ? 'cost unknown' : wording`cost ${formatNumber(list.cost)}`;
  const sentences = [
    deleted('company', company.deleted),
    deleted('product', product.deleted),
    product.listed === false && wording`The product is no longer listed.`,
    wording`${known(product)}${part} for ${known(company)}: ${price} (${identifier(product.term)}), ${cost}.`,
    prices && describeBooks(prices, on),
    notCounted && wording`Not counted: ${plural(notCounted.total, 'price')}.`,
    discounts !== undefined &&
      discounts.total > 0 &&
      wording`${plural(discounts.total, 'discount')} from discount groups.`,
  ];
  return join(sentences, ' ');
}

const deleted = (what: 'company' | 'product', on: string | true | undefined): Wording | false =>
  on !== undefined &&
  wording`The ${what} ${on === true ? 'is deleted' : wording`was deleted on ${identifier(on)}`}.`;

function describeBooks({ total, rows }: NonNullable<ProductPrices['prices']>, on: Day): Wording {
  const then = on === today() ? 'today' : wording`on ${identifier(on)}`;
  const [lowest] = rows;
  if (lowest === undefined)
    return wording`No pricing book that applies ${then} has a price for it.`;
  const { price = 0, name, id } = lowest;
  return wording`${plural(total, 'pricing book price')} ${total === 1 ? 'applies' : 'apply'} ${then}, the lowest ${formatNumber(price)} in ${quote(name ?? id ?? '')}.`;
}

/** What the service does not say. */
const caveats = ({ prices, discounts, currency }: ProductPrices): (Wording | false)[] => [
  (prices?.total ?? 0) + (discounts?.total ?? 0) > 0 &&
    wording`The service does not say which of these prices a quote gets, or from which price a discount is taken: a person decides.`,
  currency === undefined && wording`The service names no currency of this product.`,
];
