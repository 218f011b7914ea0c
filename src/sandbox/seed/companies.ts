import type { Row } from '../json.ts';
import { lines } from './catalog.ts';
import type { Random } from './random.ts';
import type { Reference } from './reference.ts';
import { companyLabels, jobTitles } from './words.ts';
import type { World } from './world.ts';

export type Company = Row & { id: string; name: string; type: string; currency: string };
export type Contact = Row & { id: string; companyId: string };

/** Customers, prospects and manufacturers; the manufacturers are a tenth. */
export function makeCompanies(world: World, reference: Reference): Company[] {
  const random = world.random.fork('company');
  const count = world.count(165);
  const makers = [...new Set(lines.map(({ maker }) => maker))].filter(Boolean);
  const manufacturers = Math.min(makers.length, Math.floor(count / 6));
  const names = [...companyNames(world, random, count - manufacturers)];
  const rows = [
    ...names.map((name, at) => makeCompany(world, random, reference, name, at)),
    ...makers.slice(0, manufacturers).map((name, at) => makeManufacturer(world, random, name, at)),
  ];
  for (const row of rows.slice(0, names.length)) {
    if (random.chance(0.06)) row.parentCompanyId = random.pick(rows).id;
  }
  return world.add('company', rows);
}

function* companyNames(world: World, random: Random, count: number): Generator<string> {
  const { heads, tails } = world.profile;
  const used = new Set<string>();
  while (used.size < count) {
    const plain = `${random.pick(heads)} ${random.pick(tails)}`;
    const name = used.has(plain) ? `${plain} ${used.size}` : plain;
    used.add(name);
    yield name;
  }
}

function makeCompany(
  world: World,
  random: Random,
  reference: Reference,
  name: string,
  at: number,
): Company {
  const { profile } = world;
  const foreign = random.chance(0.05);
  const created = random.int(60, 1500);
  return {
    id: random.id(),
    name,
    type: random.weighted([
      ['customer', 62],
      ['prospect', 33],
      ['partner', 5],
    ]),
    currency: foreign ? profile.otherCurrency : profile.currency,
    website: `https://www.${slug(name)}.${profile.domain}`,
    telephone: phone(world, random),
    accountManagerId: random.chance(0.9) ? random.pick(reference.owners).id : undefined,
    classificationId: random.chance(0.8) ? random.pick(reference.classifications).id : undefined,
    externalIdentifier: random.chance(0.85) ? `ACC-${10_001 + at}` : undefined,
    labels: random.chance(0.5) ? random.some(companyLabels, random.int(1, 2)) : undefined,
    address: address(world, random, foreign),
    customFields: random.chance(0.4) ? companyFields(random) : undefined,
    createdAt: world.moment(random, -created),
    updatedAt: world.moment(random, -random.int(0, created)),
  };
}

function makeManufacturer(world: World, random: Random, name: string, at: number): Company {
  return {
    id: random.id(),
    name,
    type: 'manufacturer',
    currency: world.profile.currency,
    website: `https://${slug(name)}.example`,
    externalIdentifier: `VEN-${101 + at}`,
    createdAt: world.moment(random, -1500),
    updatedAt: world.moment(random, -random.int(0, 900)),
  };
}

function address(world: World, random: Random, foreign: boolean) {
  const { streets, cities, country, otherCountry } = world.profile;
  return {
    street: `${random.pick(streets)} ${random.int(1, 190)}`,
    zip: String(random.int(10_000, 99_999)),
    city: random.pick(cities),
    country: foreign ? otherCountry : country,
  };
}

const companyFields = (random: Random) => ({
  employees: random.int(4, 420),
  renewalMonth: random.int(1, 12),
});

/** Contacts spread over the companies, so that some companies have many and some have none. */
export function makeContacts(world: World, customers: Company[]): Contact[] {
  const random = world.random.fork('contact');
  const rows = Array.from({ length: world.count(430) }, (_, at) =>
    makeContact(world, random, random.pick(customers), at),
  );
  return world.add('contact', rows);
}

function makeContact(world: World, random: Random, company: Company, at: number): Contact {
  const firstName = random.pick(world.profile.firstNames);
  const lastName = random.pick(world.profile.lastNames);
  const created = random.int(20, 1200);
  const mailbox = `${slug(firstName)}.${slug(lastName)}`;
  return {
    id: random.id(),
    firstName,
    middleName: random.chance(0.08)
      ? `${random.pick(world.profile.firstNames).charAt(0)}.`
      : undefined,
    lastName,
    email: random.chance(0.95)
      ? `${mailbox}@${slug(company.name)}.${world.profile.domain}`
      : undefined,
    phone: random.chance(0.7) ? phone(world, random) : undefined,
    mobilePhone: random.chance(0.4) ? phone(world, random) : undefined,
    jobTitle: random.chance(0.6) ? random.pick(jobTitles) : undefined,
    companyId: company.id,
    companyName: company.name,
    labels: random.chance(0.25)
      ? random.some(['Decision maker', 'Billing', 'Technical'], 1)
      : undefined,
    externalIdentifier: random.chance(0.7) ? `CON-${20_001 + at}` : undefined,
    createdAt: world.moment(random, -created),
    updatedAt: world.moment(random, -random.int(0, created)),
  };
}

function phone(world: World, random: Random): string {
  return `${world.profile.phonePrefix} 555 ${String(random.int(0, 9999)).padStart(4, '0')}`;
}

function slug(text: string): string {
  const ascii = text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  return ascii
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
