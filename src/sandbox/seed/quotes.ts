import type { Row } from '../json.ts';
import type { PriceBook } from './books.ts';
import type { Company, Contact } from './companies.ts';
import type { Opportunity } from './opportunities.ts';
import type { Product } from './products.ts';
import { cents, type Random } from './random.ts';
import type { Named, Reference } from './reference.ts';
import { itemNotes, quoteTitles } from './words.ts';
import type { World } from './world.ts';

type Status = 'draft' | 'sent' | 'approved' | 'declined' | 'expired';

/** The records that quotes refer to. */
export interface QuoteSources {
  reference: Reference;
  customers: Company[];
  contacts: Map<string, Contact[]>;
  opportunities: Opportunity[];
  products: Product[];
  priceOf: PriceBook;
}

export function makeQuotes(world: World, sources: QuoteSources): void {
  const random = world.random.fork('quote');
  const categories = new Map(
    [...sources.reference.categories.values()].map((category) => [category.id, category]),
  );
  const year = world.today.getUTCFullYear();
  for (let at = 0; at < world.count(365); at++) {
    const quote = makeQuote(world, random, sources, `Q-${year}-${1001 + at}`);
    world.add('quote', [quote]);
    if (random.chance(0.015)) {
      world.mark('quote', quote, 'no items');
      continue;
    }
    addItems(world, random, sources, quote, categories);
  }
}

function makeQuote(world: World, random: Random, sources: QuoteSources, number: string) {
  const opportunity = random.chance(0.75) ? random.pick(sources.opportunities) : undefined;
  const companyId = opportunity?.companyId ?? random.pick(sources.customers).id;
  const people = sources.contacts.get(companyId) ?? [];
  const id = random.id();
  return {
    id,
    number,
    title: opportunity && random.chance(0.6) ? opportunity.name : random.pick(quoteTitles),
    link: `https://quotes.${world.tenant}.example/view/${id}`,
    companyId,
    contactId: people.length > 0 ? random.pick(people).id : undefined,
    ownerId: random.pick(sources.reference.owners).id,
    opportunityId: opportunity?.id,
    paymentTermId: random.chance(0.9) ? random.pick(sources.reference.paymentTerms).id : undefined,
    showUnitPrices: random.chance(0.8),
    showTotals: true,
    showManufacturer: random.chance(0.5),
    ...discount(random),
    ...contract(world, random),
    ...history(world, random),
  };
}

function discount(random: Random) {
  if (!random.chance(0.3)) return {};
  return random.chance(0.6)
    ? { discountType: 'percentage', discountAmount: random.int(2, 12) }
    : { discountType: 'amount', discountAmount: random.int(1, 30) * 50 };
}

function contract(world: World, random: Random) {
  if (!random.chance(0.45)) return {};
  const months = random.pick([12, 24, 36]);
  const start = random.int(-60, 90);
  return {
    contractStartDate: world.day(start),
    contractEndDate: world.day(start + Math.round(months * 30.44) - 1),
    contractDurationAmount: months,
    contractDurationUnit: 'month',
  };
}

/** Status and the dates that go with it. A quote is valid for 30 days from when it was sent. */
function history(world: World, random: Random): Row {
  const status = random.weighted<Status>([
    ['draft', 20],
    ['sent', 34],
    ['approved', 25],
    ['declined', 11],
    ['expired', 10],
  ]);
  const age = status === 'expired' ? random.int(45, 400) : random.int(1, 330);
  const sent = Math.max(0, age - random.int(0, 6));
  const answered = Math.max(0, sent - random.int(1, 25));
  const dates: Record<Status, Row> = {
    draft: {},
    sent: { expiresAt: world.moment(random, openExpiry(random, sent)) },
    approved: { approvedAt: world.moment(random, -answered) },
    declined: { declinedAt: world.moment(random, -answered) },
    expired: {
      expiresAt: world.moment(random, 30 - sent),
      expiredAt: world.moment(random, 30 - sent),
    },
  };
  return {
    status,
    createdAt: world.moment(random, -age),
    updatedAt: world.moment(random, -(status === 'draft' ? random.int(0, age) : answered)),
    ...(status === 'draft' ? {} : { sentAt: world.moment(random, -sent) }),
    ...dates[status],
  };
}

/** Some quotes are valid for long, some expire within days, some are expired but still open. */
function openExpiry(random: Random, sent: number): number {
  return random.weighted<() => number>([
    [() => 30 - sent, 45],
    [() => random.int(0, 9), 20],
    [() => random.int(10, 120), 35],
  ])();
}

function addItems(
  world: World,
  random: Random,
  { products, priceOf }: QuoteSources,
  quote: Row,
  categories: Map<string, Named>,
): void {
  const count = random.int(3, 15);
  const items = Array.from({ length: count }, (_, position) => {
    const product = random.pick(products);
    const price = priceOf(product, String(quote.companyId)) ?? product.price;
    return {
      id: random.id(),
      quoteId: quote.id,
      position,
      name: product.name,
      description: itemText(random, product),
      productType: product.productType,
      mpn: product.mpn,
      manufacturer: product.manufacturer,
      categoryId: categories.get(product.categoryId)?.id,
      productId: product.id,
      ...terms(random, product, quotedPrice(random, price)),
      unit: product.unit,
      term: product.term,
    };
  });
  world.add('quote_item', items);
}

function itemText(random: Random, { shortDescription }: Product): string | undefined {
  const note = random.chance(0.75) ? random.pick(itemNotes) : undefined;
  const text = [shortDescription, note].filter(Boolean).join(' ');
  return text === '' ? undefined : text;
}

/** One line in eight differs from the price of the book or the catalog. */
function quotedPrice(random: Random, price: number): number {
  return random.chance(0.12) ? cents(price * random.amount(0.75, 1.2)) : price;
}

function terms(random: Random, product: Product, price: number) {
  const recurring = product.term !== undefined;
  const setup = recurring && random.chance(0.3);
  const setupCost = setup ? random.int(2, 40) * 10 : undefined;
  return {
    quantity: recurring ? random.int(3, 90) : random.pick([1, 1, 1, 2, 2, 4, 5, 10, 25]),
    price,
    cost: product.cost,
    markup: cents((price / product.cost - 1) * 100),
    discount: random.chance(0.15) ? random.int(2, 15) : 0,
    // Sometimes a setup has a cost but no price.
    setupPrice: setupCost && random.chance(0.8) ? cents(setupCost * 1.6) : undefined,
    setupCost,
  };
}
