import type { Row } from '../hosts.ts';

type Id = string | number;

export type Named = {
  id: Id;
  name: string;
};

export type Opportunity = Named & {
  description?: string;
  externalIdentifier?: string;
  company?: Named;
  contact?: Named;
  owner?: Named;
  pipelineStage?: Named;
  category?: Named;
  source?: Named;
  statusId: string;
  /** 0–1. */
  probability?: number;
  onetimeRevenue?: number;
  monthlyRevenue?: number;
  monthlyChurn?: number;
  valueMonths?: number;
  startDate?: string;
  expectedCloseDate?: string;
  createdAt: string;
  updatedAt: string;
  closedAt?: string;
  deletedAt?: string;
  stageUpdatedAt: string;
  customFields?: Row;
};

type Company = ReturnType<typeof companies>[number];
type Contact = ReturnType<typeof contacts>[number];
type Product = ReturnType<typeof products>[number];

/** Of what kind the records are. */
export interface DataChoices {
  /** By default twenty letters and digits. */
  ids?: 'integers' | 'integers in texts' | '19 digits' | '19 digits in texts' | undefined;
  products?: number | undefined;
  /** The status of a closed deal does not say whether it was won. */
  outcomes?: 'untold' | undefined;
}

/** Everything that a tenant stores, independent of how the service sends it. */
export interface StoredData {
  '/company': Company[];
  '/contact': Contact[];
  '/opportunity': Opportunity[];
  '/product': Product[];
  '/quote': ReturnType<typeof quotes>;
  '/quote-template': (Named & Row)[];
  '/quote-widget-template': (Named & Row)[];
  '/pricing-book': (Named & Row)[];
  '/category': (Named & Row)[];
  '/quote-discount-group': (Named & Row)[];
  '/contract/items': ({ id: Id; service: string } & Row)[];
}

export type ListPath = keyof StoredData;

const counts = { companies: 130, contacts: 150, opportunities: 330, quotes: 140, others: 27 };
const stages = ['Discovery', 'Proposal', 'Negotiation'];
const owners = ['Ada Brook', 'Ben Castle', 'Cleo Dunn', 'Dov Ellis'];
const sources = ['Referral', 'Website', 'Trade fair'];
const goods = ['Firewall', 'Switch', 'Backup', 'Helpdesk', 'Cable', 'Router'];
const towns = [
  'Aster',
  'Birch',
  'Cedar',
  'Dahlia',
  'Elder',
  'Fern',
  'Gorse',
  'Hazel',
  'Iris',
  'Juniper',
];
const trades = ['Freight', 'Dental', 'Foods', 'Legal', 'Motors', 'Optics', 'Prints'];

/** Pseudo-random numbers, the same for the same seed. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const dayMs = 86_400_000;

/** The same for all services of a process, so that their answers can be compared. */
const now = Date.now();

/** A time this number of days ago, with whole seconds, as the service writes it. */
const daysAgo = (days: number): string =>
  `${new Date(now - days * dayMs).toISOString().slice(0, 19)}Z`;
const day = (ago: number): string => daysAgo(ago).slice(0, 10);

type MakeId = (kind: string, index: number) => Id;

const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Random ids of twenty letters and digits, or unique numbers. */
function idsOf(form: DataChoices['ids']): MakeId {
  let last = 4_000;
  return (kind, index) => {
    last += 3;
    if (form === 'integers') return last;
    if (form === 'integers in texts') return String(last);
    if (form !== undefined) return `92233720368547${String(last).padStart(5, '0')}`;
    const next = sequence([...kind].reduce((sum, it) => sum * 31 + it.charCodeAt(0), index + 7));
    return Array.from({ length: 20 }, () => letters[next(letters.length)]).join('');
  };
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const ref = ({ id, name }: Named): Named => ({ id, name });
const times = (index: number) => ({
  createdAt: daysAgo(400 - (index % 200)),
  updatedAt: daysAgo(10 + (index % 90)),
});

function companies(id: MakeId) {
  return many(counts.companies, (index) => ({
    id: id('company', index),
    name: `${at(towns, index)} ${at(trades, Math.floor(index / 10))} ${100 + index}`,
    type: index % 3 === 0 ? 'prospect' : 'customer',
    currency: at(['EUR', 'USD', 'GBP'], index),
    externalIdentifier: `crm-company-${index}`,
    ...times(index),
  }));
}

function contacts(id: MakeId, of: readonly Company[]) {
  return many(counts.contacts, (index) => {
    const company = at(of, index);
    return {
      id: id('contact', index),
      firstName: at(['Zoe', 'Mika', 'Sam', 'Lena'], index),
      lastName: `Person${index}`,
      email: `person${index}@example.com`,
      companyId: company.id,
      companyName: company.name,
      externalIdentifier: `crm-contact-${index}`,
      ...times(index),
      ...(index % 37 === 36 ? { deleted: daysAgo(4) } : {}),
    };
  });
}

const personOf = ({ id, firstName, lastName }: Contact): Named => ({
  id,
  name: `${firstName} ${lastName}`,
});

/** The outcome of a deal: most are open, a fifth is closed, some are deleted. */
function outcomeOf(
  index: number,
  next: (below: number) => number,
  { outcomes }: DataChoices,
): Pick<Opportunity, 'statusId' | 'closedAt'> {
  if (index % 5 !== 4) return { statusId: 'Active' };
  const won = next(2) === 0;
  const closedAt = daysAgo(3 + next(80));
  if (outcomes === 'untold') return { statusId: '7f3a90', closedAt };
  return { statusId: won ? 'won' : 'lost', closedAt };
}

interface Words {
  stages: Named[];
  owners: Named[];
  sources: Named[];
  categories: Named[];
}

function opportunities(
  id: MakeId,
  { '/company': of, '/contact': people }: Pick<StoredData, '/company' | '/contact'>,
  words: Words,
  on: DataChoices,
): Opportunity[] {
  const next = sequence(11);
  return many(counts.opportunities, (index) => {
    const company = at(of, next(of.length));
    const contact = people.find(({ companyId }) => companyId === company.id) ?? at(people, index);
    return {
      id: id('opportunity', index),
      name: `${at(goods, index)} for ${company.name} ${index}`,
      description: `They ask for ${2 + next(30)} pieces`,
      externalIdentifier: `crm-deal-${index}`,
      company: ref(company),
      contact: personOf(contact),
      owner: at(words.owners, next(words.owners.length)),
      pipelineStage: at(words.stages, next(words.stages.length)),
      category: at(words.categories, next(6)),
      source: at(words.sources, index),
      probability: at([0.1, 0.25, 0.5, 0.75, 0.9], next(5)),
      onetimeRevenue: 100 * (1 + next(400)),
      monthlyRevenue: 20 * next(60),
      monthlyChurn: 20 * next(3),
      valueMonths: 12 * (1 + next(3)),
      startDate: day(60 - next(30)),
      expectedCloseDate: day(next(90) - 60),
      ...times(index),
      stageUpdatedAt: daysAgo(5 + next(60)),
      ...outcomeOf(index, next, on),
      ...(index % 43 === 42 ? { deletedAt: daysAgo(2) } : {}),
      customFields: { region: at(['north', 'south'], index), seats: 5 + next(20) },
    };
  });
}

function products(
  id: MakeId,
  categories: readonly Named[],
  { products: count = 240 }: DataChoices,
) {
  const next = sequence(23);
  return many(count, (index) => {
    const cost = 10 * (5 + next(200));
    const under = index % 11 === 3;
    return {
      id: id('product', index),
      name: `${at(goods, index)} model ${index}`,
      mpn: `MPN-${index}`,
      manufacturer: at(['Northwind', 'Contoso', 'Fabrikam'], index),
      productType: index % 4 === 0 ? 'service' : 'product',
      listed: index % 13 !== 5,
      category: ref(at(categories, index)),
      cost,
      price: under ? cost - 10 * (1 + next(4)) : cost + 10 * (1 + next(40)),
      externalIdentifier: `crm-product-${index}`,
      ...times(index),
    };
  });
}

function itemsOf(id: MakeId, index: number, of: readonly Product[]) {
  return many(1 + (index % 4), (line) => {
    const product = at(of, index * 7 + line);
    return {
      id: id('item', index * 10 + line),
      name: product.name,
      product: ref(product),
      quantity: 1 + ((index + line) % 5),
      price: product.price,
      cost: product.cost,
      ...(line % 3 === 1 ? { term: 'month' as const } : {}),
      ...(line % 3 === 2 ? { term: 'year' as const } : {}),
    };
  });
}

function quotes(id: MakeId, deals: readonly Opportunity[], of: readonly Product[]) {
  return many(counts.quotes, (index) => {
    const deal = at(deals, index * 2);
    const status = at(['draft', 'sent', 'approved', 'declined'] as const, index);
    return {
      id: id('quote', index),
      number: `Q-${5000 + index}`,
      title: `Offer ${index} for ${deal.company?.name}`,
      status,
      company: deal.company as Named,
      contact: deal.contact as Named,
      owner: deal.owner as Named,
      opportunity: ref(deal),
      paymentTerm: { id: id('term', index % 2), name: index % 2 ? '30 days' : '14 days' },
      items: itemsOf(id, index, of),
      ...times(index),
      ...(status === 'draft' ? {} : { sentAt: daysAgo(5 + (index % 40)) }),
      expiresAt: daysAgo(20 - (index % 60)),
      ...(index % 29 === 28 ? { deletedAt: daysAgo(1) } : {}),
    };
  });
}

const listOf = (id: MakeId, words: readonly string[], kind: string): Named[] =>
  words.map((name, index) => ({ id: id(kind, index), name }));

function others(
  id: MakeId,
  { '/company': of, '/product': goods }: Pick<StoredData, '/company' | '/product'>,
) {
  const list = (kind: string, more: (index: number) => Row) =>
    many(counts.others, (index) => ({
      id: id(kind, index),
      name: `${kind} ${index}`,
      ...times(index),
      ...more(index),
    }));
  return {
    '/quote-template': list('Template', () => ({ widgets: [] })),
    '/quote-widget-template': list('Widget', () => ({ type: 'text' })),
    '/pricing-book': list('Book', (index) => ({
      specialBidNumber: `SB-${index}`,
      validFrom: day(100),
      validTo: day(-100),
      companyIds: [at(of, index).id],
      products: [{ productId: at(goods, index).id, price: at(goods, index).price }],
    })),
    '/quote-discount-group': list('Group', (index) => ({
      discounts: [{ name: 'Standard', amount: 5 }],
      companyIds: [at(of, index).id],
    })),
    '/contract/items': many(counts.others, (index) => ({
      id: id('contract', index),
      service: `Service ${index}`,
      vendor: 'Northwind',
      term: 'month',
      quantity: 1 + index,
      revenue: 100 * (1 + index),
      profit: 10 * (1 + index),
      companyId: at(of, index).id,
    })),
  };
}

/** A tenant of some hundred records, always the same except for its dates, which are relative to today. */
export function makeStoredData(on: DataChoices): StoredData {
  const id = idsOf(on.ids);
  const category = many(counts.others, (index) => ({
    id: id('category', index),
    name: `Category ${index}`,
    ...times(index),
  }));
  const words = {
    stages: listOf(id, stages, 'stage'),
    owners: listOf(id, owners, 'owner'),
    sources: listOf(id, sources, 'source'),
    categories: category.map(ref),
  };
  const company = companies(id);
  const contact = contacts(id, company);
  const product = products(id, words.categories, on);
  const deals = opportunities(id, { '/company': company, '/contact': contact }, words, on);
  return {
    '/company': company,
    '/contact': contact,
    '/opportunity': deals,
    '/product': product,
    '/quote': quotes(id, deals, product),
    '/category': category,
    ...others(id, { '/company': company, '/product': product }),
  };
}

/** Two levels: every fifth category is the parent of the four behind it. */
export const treeOf = (categories: StoredData['/category']): Row[] =>
  categories
    .map((root, at) => ({ ...root, children: categories.slice(at + 1, at + 5) }))
    .filter((_, at) => at % 5 === 0);
