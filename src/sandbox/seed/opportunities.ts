import type { Row } from '../json.ts';
import type { Company, Contact } from './companies.ts';
import { cents, type Random } from './random.ts';
import type { Reference, Stage } from './reference.ts';
import { dealNotes, deals } from './words.ts';
import type { World } from './world.ts';

type Outcome = 'open' | 'won' | 'lost' | 'unknown';
export type Opportunity = Row & { id: string; companyId: string; name: string };

/** Contacts by company, so that a deal gets a contact of its company. */
export function byCompany(contacts: Contact[]): Map<string, Contact[]> {
  const groups = new Map<string, Contact[]>();
  for (const contact of contacts) {
    const group = groups.get(contact.companyId);
    if (group) group.push(contact);
    else groups.set(contact.companyId, [contact]);
  }
  return groups;
}

export function makeOpportunities(
  world: World,
  reference: Reference,
  customers: Company[],
  contacts: Map<string, Contact[]>,
): Opportunity[] {
  const random = world.random.fork('opportunity');
  const rows = Array.from({ length: world.count(330) }, (_, at) => {
    const company = random.pick(customers);
    const people = contacts.get(company.id) ?? [];
    const contactId = people.length > 0 ? random.pick(people).id : undefined;
    return {
      ...makeDeal(random, at),
      companyId: company.id,
      contactId,
      ...course(world, random, reference),
    };
  });
  return world.add('opportunity', rows);
}

/** The name, description and value of a deal. */
function makeDeal(random: Random, at: number) {
  const [name, ask] = random.pick(deals);
  const number = String(random.int(3, 90));
  const onetime = random.chance(0.9) ? Math.round(random.amount(4, 480) ** 1.6) : 0;
  const monthly = random.chance(0.65) ? random.int(6, 400) * 10 : 0;
  return {
    id: random.id(),
    name: name.replaceAll('#', number),
    description: random.chance(0.88) ? describe(random, ask.replaceAll('#', number)) : undefined,
    externalIdentifier: random.chance(0.8) ? `OPP-${40_001 + at}` : undefined,
    onetimeRevenue: onetime,
    oneTimeProfit: cents(onetime * random.amount(0.1, 0.4)),
    monthlyRevenue: monthly,
    monthlyProfit: cents(monthly * random.amount(0.2, 0.55)),
    monthlyChurn: random.chance(0.1) ? random.int(10, 300) : undefined,
    valueMonths: monthly > 0 ? random.pick([12, 24, 36, 60]) : undefined,
    customFields: random.chance(0.4) ? ownFields(random) : undefined,
  };
}

function describe(random: Random, ask: string): string {
  return random.chance(0.7) ? `${ask} ${random.pick(dealNotes)}` : ask;
}

const ownFields = (random: Random) => ({
  region: random.pick(['North', 'South', 'West']),
  leadScore: random.int(1, 100),
});

/** The outcome, stage, probability and dates of a deal. */
function course(world: World, random: Random, reference: Reference) {
  const outcome = random.weighted<Outcome>([
    ['open', 58],
    ['won', 21],
    ['lost', 16],
    ['unknown', 5],
  ]);
  const age = random.int(outcome === 'open' ? 2 : 40, 420);
  const moved = random.int(0, age);
  const stage = stageFor(random, reference.stages, outcome);
  return {
    outcome,
    ownerId: random.pick(reference.owners).id,
    pipelineStageId: stage.id,
    categoryId: random.chance(0.6) ? random.pick(reference.opportunityCategories).id : undefined,
    sourceId: random.chance(0.5) ? random.pick(reference.sources).id : undefined,
    statusId: statusFor(world, random, outcome),
    probability: probabilityFor(world, random, stage),
    createdAt: world.moment(random, -age),
    updatedAt: world.moment(random, -random.int(0, moved)),
    stageUpdatedAt: world.moment(random, -moved),
    ...closing(world, random, outcome, moved),
  };
}

function closing(world: World, random: Random, outcome: Outcome, moved: number) {
  if (outcome !== 'open') {
    return {
      closedAt: world.moment(random, -moved),
      expectedCloseDate: world.day(random.int(-30, 30) - moved),
    };
  }
  const offset = random.weighted<() => number | undefined>([
    [() => random.int(1, 120), 74],
    [() => random.int(-75, -1), 17],
    [() => random.int(400, 1100), 5],
    [() => undefined, 4],
  ])();
  if (offset === undefined) return {};
  const startDate = random.chance(0.4) ? world.day(offset + random.int(7, 60)) : undefined;
  return { expectedCloseDate: world.day(offset), startDate };
}

/** A deal that was closed without an outcome keeps its stage. */
function stageFor(random: Random, stages: Stage[], outcome: Outcome): Stage {
  const kind = outcome === 'unknown' ? 'open' : outcome;
  return random.pick(stages.filter((stage) => stage.outcome === kind));
}

function statusFor({ profile }: World, random: Random, outcome: Outcome): string | undefined {
  if (outcome === 'unknown') return random.chance(0.5) ? profile.status.closed : undefined;
  return profile.status[outcome];
}

function probabilityFor({ profile }: World, random: Random, stage: Stage): number {
  const own = stage.outcome === 'open' && random.chance(0.3) ? random.int(-2, 2) * 0.05 : 0;
  return cents(Math.min(1, Math.max(0, stage.usual + own)) * profile.probabilityScale);
}
