import * as z from 'zod';
import {
  type BookPriceRow,
  type ProductPrices,
  productPrices,
} from '../src/briefs/prices/product-prices.ts';
import { currencyCode } from '../src/figures/money.ts';
import { plural } from '../src/figures/naming.ts';
import type { PartOf } from '../src/reading/parts.ts';
import type { Resource } from '../src/service/records/records.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import {
  identifier,
  join,
  quote,
  trusted,
  type Wording,
  wording,
} from '../src/text/untrusted-text.ts';
import {
  answerWithRows,
  limitLists,
  recordOrQuestion,
  toCoverage,
  today,
} from '../src/tool-kit/answers.ts';
import { coverage, defineTool } from '../src/tool-kit/define-tool.ts';
import { keysOf } from '../src/values.ts';

const name = z.string().trim().min(1).max(200);
/** Rows of each list. */
const maxRows = 30;

export const priceProduct = defineTool({
  name: 'cpq_price_product',
  title: 'Price a product for a company',
  description:
    'What a company may be quoted for a product: list price, cost, valid prices of pricing books that apply, lowest and own marked, discount groups.',
  toolset: 'briefs',
  needs: ['company:read', 'product:read'],
  input: z.strictObject({
    company: name.describe('Id, external identifier or name'),
    product: name.describe('Or part number'),
  }),
  output: { coverage: coverage.optional() },
  async run(tenant, args, call) {
    const company = await recordOrQuestion(tenant, 'company', args.company, call);
    if (company.question) return company.question;
    const product = await recordOrQuestion(tenant, 'product', args.product, call);
    if (product.question) return product.question;
    const read: Partial<Record<Resource, PartOf>> = {
      company: { only: company.record },
      product: { only: product.record },
    };
    const { records, coverage, omitted } = await readCollections(
      tenant,
      ['company', 'product'],
      ['pricing_book', 'discount_group', 'category'],
      call,
      (resource) => read[resource],
    );
    const about = {
      company: company.record,
      product: product.record,
      books: records.pricing_book,
      discountGroups: records.discount_group,
      categories: records.category,
    };
    const found = productPrices(about, today());
    const currency = currencyCode(company.record.currency);
    return answerWithRows(maxRows, (count) => ({
      summary: pricesSummary(found),
      data: { ...limitLists({ ...found }, count), coverage: toCoverage(coverage) },
      notes: [...caveats(found, currency), ...omitted],
    }));
  },
});

function pricesSummary(found: ProductPrices): Wording {
  const { company, product, list, prices, discounts } = found;
  const part = product.mpn === undefined ? wording`` : wording` (${identifier(product.mpn)})`;
  const known = (named: { name?: string; id?: string }) => quote(named.name ?? named.id ?? '');
  return join(
    [
      ...deletedSentences(found),
      wording`${known(product)}${part} for ${known(company)}: ${describeList(found)}.`,
      ...(prices ? [describeBooks(prices, list.marks !== undefined)] : []),
      ...describeUncounted(found),
      ...(discounts?.total
        ? [wording`${plural(discounts.total, 'discount')} from discount groups.`]
        : []),
    ],
    ' ',
  );
}

function deletedSentences({ company, product }: ProductPrices): Wording[] {
  const sentence = (what: 'company' | 'product', on: string | true | undefined): Wording[] => {
    if (on === undefined) return [];
    const how = on === true ? wording`is deleted` : wording`was deleted on ${identifier(on)}`;
    return [wording`The ${what} ${how}.`];
  };
  return [
    ...sentence('company', company.deleted),
    ...sentence('product', product.deleted),
    ...(product.listed === false ? [wording`The product is no longer listed.`] : []),
  ];
}

function describeList({ list: { price, cost }, product, currency }: ProductPrices): Wording {
  const code = currency === undefined ? wording`` : wording` ${trusted(currency)}`;
  const term = wording` (${identifier(product.term)})`;
  const listPrice =
    price === undefined
      ? wording`no list price${term}`
      : wording`list price ${price}${code}${term}`;
  return wording`${listPrice}, ${cost === undefined ? 'cost unknown' : wording`cost ${cost}`}`;
}

type Prices = NonNullable<ProductPrices['prices']>;

function describeBooks({ total, rows }: Prices, isListLowest: boolean): Wording {
  const [lowest] = rows;
  if (lowest === undefined) return wording`No pricing book that applies today has a price for it.`;
  const own = rows.find(isOwn);
  const others =
    own === undefined || own === lowest ? wording`` : wording`; their own: ${describePrice(own)}`;
  const whose = isOwn(lowest) ? wording`, their own` : wording``;
  const prices =
    total === 1
      ? wording`One pricing book price applies today: ${describePrice(lowest)}`
      : wording`${total} pricing book prices apply today, the lowest ${describePrice(lowest)}`;
  const list = isListLowest ? wording` No pricing book price is under the list price.` : wording``;
  return wording`${prices}${whose}${others}.${list}`;
}

const isOwn = ({ marks }: BookPriceRow): boolean => marks?.includes('own') ?? false;

const describePrice = ({ price = 0, name, id }: BookPriceRow): Wording =>
  wording`${price} in ${quote(name ?? id ?? '')}`;

function describeUncounted({ notCounted }: ProductPrices): Wording[] {
  if (notCounted === undefined) return [];
  const { reasons } = notCounted;
  const counts = keysOf(reasons).map(
    (reason) => wording`${reasons[reason] ?? 0} ${trusted(reason)}`,
  );
  return [wording`Not counted: ${join(counts, ', ')}.`];
}

/** What the service does not say. */
function caveats(
  { prices, discounts, currency }: ProductPrices,
  companyCurrency: string | undefined,
): Wording[] {
  const hasSeveral = (prices?.total ?? 0) + (discounts?.total ?? 0) > 0;
  const ofCompany =
    companyCurrency === undefined
      ? wording``
      : wording`; the company's is ${trusted(companyCurrency)}`;
  return [
    ...(hasSeveral
      ? [
          wording`The service does not say which of these prices a quote gets, or from which price a discount is taken: a person decides.`,
        ]
      : []),
    ...(currency === undefined
      ? [wording`The service names no currency of this product${ofCompany}.`]
      : []),
  ];
}
