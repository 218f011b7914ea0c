import type { Row } from '../json.ts';
import { lines } from './catalog.ts';
import type { Dataset } from './dataset.ts';
import { type Random, uniqueNames } from './random.ts';
import type { Named, Reference } from './reference.ts';
import { companyLabels, type Profile, type Trade } from './words.ts';

type Company = Row & {
  id: string;
  name: string;
  type: string;
  currency: string;
  accountManagerId: string | undefined;
};
type Contact = Row & { id: string; companyId: string };

/** A company that buys, and what other records must fit. */
export interface Customer {
  row: Company;
  trade: Trade;
  employees: number;
  /** Prefix of its telephone numbers. */
  phone: string;
  contacts: Contact[];
}

/** Customers, prospects and manufacturers; the manufacturers are a sixth. */
export function makeCompanies(dataset: Dataset, reference: Reference): Customer[] {
  const random = dataset.random.fork('company');
  const count = dataset.count(165);
  const makers = [...new Set(lines.map(({ maker }) => maker))].filter(Boolean);
  const manufacturers = Math.min(makers.length, Math.floor(count / 6));
  const manager = random.weighing(reference.owners.map((owner) => [owner, owner.share]));
  const ages = dataset.ages(random, count - manufacturers, 60, 2200);
  const customers = companyNames(dataset.profile, random, count - manufacturers).map((named, at) =>
    makeCustomer(dataset, random, { reference, manager, ...named, at, age: ages[at] ?? 60 }),
  );
  for (const { row } of customers) {
    const parent = random.pick(customers).row;
    if (random.chance(0.06) && parent !== row) row.parentCompanyId = parent.id;
  }
  dataset.add(
    'company',
    customers.map(({ row }) => row),
  );
  const others = makers.slice(0, manufacturers);
  dataset.add(
    'company',
    others.map((name, at) => makeManufacturer(dataset, random, name, at)),
  );
  return customers;
}

/** Unique names: with a city once all are used, then with a number. */
function companyNames({ heads, trades, cities }: Profile, random: Random, count: number) {
  const plain = heads.flatMap((head) =>
    trades.flatMap((trade) => trade.names.map((end) => ({ name: `${head} ${end}`, trade }))),
  );
  return uniqueNames(random, plain, count, (pass) => cities[pass - 1]?.[0] ?? pass + 1);
}

interface CustomerSource {
  reference: Reference;
  manager: () => Named;
  name: string;
  trade: Trade;
  at: number;
  /** Days since it was created. */
  age: number;
}

function makeCustomer(dataset: Dataset, random: Random, source: CustomerSource): Customer {
  const { name, trade, at, age } = source;
  const { profile } = dataset;
  const foreign = random.chance(0.05);
  const [city, zip, phone] = random.pick(foreign ? profile.foreignCities : profile.cities);
  const employees = Math.round(Math.min(640, Math.max(4, random.logNormal(trade.employees, 0.8))));
  const type = random.weighted([
    ['customer', 68],
    ['prospect', 28],
    ['partner', 4],
  ]);
  const createdAt = dataset.moment(random, -age);
  const row = {
    id: random.id(),
    name,
    type,
    currency: foreign ? profile.otherCurrency : profile.currency,
    website: `https://www.${slug(name)}.${profile.domain}`,
    telephone: telephone(random, phone),
    accountManagerId: random.chance(0.95) ? source.manager().id : undefined,
    classificationId: classificationOf(random, source.reference, { trade, type, employees }),
    externalIdentifier: random.chance(0.9) ? `ACC-${10_001 + at}` : undefined,
    labels: random.chance(0.5) ? random.some(companyLabels, random.int(1, 2)) : undefined,
    address: {
      street: streetOf(random, profile),
      zip: digits(random, zip),
      city,
      country: foreign ? profile.otherCountry : profile.country,
    },
    customFields: random.chance(0.6) ? { employees, renewalMonth: random.int(1, 12) } : undefined,
    createdAt,
    updatedAt: dataset.momentAfter(random, -random.int(0, Math.min(age, 400)), createdAt),
  };
  return { row, trade, employees, phone, contacts: [] };
}

function streetOf(random: Random, { streets, houseNumber }: Profile): string {
  const street = random.pick(streets);
  const number = random.int(1, 190);
  return houseNumber === 'before' ? `${number} ${street}` : `${street} ${number}`;
}

function classificationOf(
  random: Random,
  { classifications }: Reference,
  { trade, type, employees }: { trade: Trade; type: string; employees: number },
): string | undefined {
  const commercial = employees > 120 ? 'Strategic' : 'Standard';
  const wanted = type === 'partner' ? 'Reseller' : (trade.classification ?? commercial);
  return random.chance(0.85) ? classifications.find(({ name }) => name === wanted)?.id : undefined;
}

function makeManufacturer(dataset: Dataset, random: Random, name: string, at: number): Company {
  const createdAt = dataset.moment(random, -2200);
  return {
    id: random.id(),
    name,
    type: 'manufacturer',
    currency: dataset.profile.currency,
    accountManagerId: undefined,
    website: `https://${slug(name)}.example`,
    externalIdentifier: `VEN-${101 + at}`,
    createdAt,
    updatedAt: dataset.moment(random, -random.int(0, 900)),
  };
}

/** Larger companies have more contacts, a few companies have none. No two contacts have the same name, if possible. */
export function makeContacts(dataset: Dataset, customers: Customer[]): void {
  const random = dataset.random.fork('contact');
  const { firstNames, lastNames } = dataset.profile;
  const names = random.some(
    firstNames.flatMap((first) => lastNames.map((last) => [first, last] as const)),
    Number.POSITIVE_INFINITY,
  );
  const count = dataset.count(430);
  const anyEmployer = random.weighing(customers.map((each) => [each, Math.sqrt(each.employees)]));
  const employers = customers.filter(() => random.chance(0.94)).slice(0, count);
  const ages = dataset.ages(random, count, 20, 1500);
  const rows = random.some(employers, employers.length);
  while (rows.length < count) rows.push(anyEmployer());
  const contacts = rows.map((customer, at) => {
    const contact = makeContact(dataset, random, customer, names[at % names.length] ?? ['', '']);
    const age = ages[at] ?? 20;
    customer.contacts.push(contact);
    const createdAt = dataset.momentAfter(random, -age, String(customer.row.createdAt));
    return Object.assign(contact, {
      externalIdentifier: random.chance(0.75) ? `CON-${20_001 + at}` : undefined,
      createdAt,
      updatedAt: dataset.momentAfter(random, -random.int(0, Math.min(age, 300)), createdAt),
    });
  });
  dataset.add('contact', contacts);
}

function makeContact(
  dataset: Dataset,
  random: Random,
  { row, trade, employees, phone, contacts }: Customer,
  [firstName, lastName]: readonly [string, string],
): Contact {
  const titles = employees < 15 ? trade.jobTitles.slice(0, 2) : trade.jobTitles;
  const mailbox = `${slug(firstName)}.${slug(lastName)}`;
  const middle = random.pick(dataset.profile.firstNames).charAt(0);
  const title = titles[contacts.length] ?? random.pick(titles.slice(1));
  return {
    id: random.id(),
    firstName,
    middleName: random.chance(0.08) ? `${middle}.` : undefined,
    lastName,
    email: random.chance(0.97)
      ? `${mailbox}@${slug(row.name)}.${dataset.profile.domain}`
      : undefined,
    phone: random.chance(0.75) ? telephone(random, phone) : undefined,
    mobilePhone: random.chance(0.4) ? telephone(random, phone) : undefined,
    jobTitle: random.chance(0.8) ? title : undefined,
    companyId: row.id,
    companyName: row.name,
    labels: labelsOf(random, contacts.length),
  };
}

function labelsOf(random: Random, position: number): string[] | undefined {
  const given = random.chance(0.3);
  const other = random.pick(['Billing', 'Technical']);
  return given ? [position === 0 ? 'Decision maker' : other] : undefined;
}

const telephone = (random: Random, prefix: string): string =>
  `${prefix} 555 ${String(random.int(100, 9999)).padStart(4, '0')}`;

const digits = (random: Random, pattern: string): string =>
  [...pattern].map((mark) => (mark === '#' ? String(random.int(0, 9)) : mark)).join('');

const LATIN: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', ı: 'i', ł: 'l', "'": '' };

function slug(text: string): string {
  const ascii = text
    .toLowerCase()
    .replace(/[ßøıł']/g, (letter) => LATIN[letter] ?? '')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '');
  return ascii.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}
