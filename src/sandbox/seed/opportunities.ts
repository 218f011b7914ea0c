import type { Row } from '../json.ts';
import type { Customer } from './companies.ts';
import type { Dataset } from './dataset.ts';
import { cents, Quota, type Random } from './random.ts';
import type { Owner, Reference, Stage } from './reference.ts';
import { type Market, makeScope, type Scope, totalsOf } from './scope.ts';
import { projects } from './solutions.ts';
import { dealNotes } from './words.ts';

type Outcome = 'open' | 'won' | 'lost' | 'unknown';
type Opportunity = Row & { id: string; name: string; createdAt: string };

/** A deal: its record, and what its quotes must fit. */
export interface Deal {
  row: Opportunity;
  customer: Customer;
  scope: Scope;
  course: Course;
}

/** The history of a deal. Times are days before today. */
interface Course {
  outcome: Outcome;
  owner: Owner;
  stage: Stage;
  /** Position of the stage among the open ones that the deal has or had. */
  reached: number;
  created: number;
  /** When it came into its stage, or was closed. */
  moved: number;
  /** Days from its creation to its close, expected or actual. */
  length: number;
}

/** The part of its length after which a deal enters each open stage. */
const PACE = [0, 0.14, 0.38, 0.62, 0.86];
const OLDEST = 430;

export function makeOpportunities(
  dataset: Dataset,
  reference: Reference,
  customers: Customer[],
  market: Market,
): Deal[] {
  const random = dataset.random.fork('opportunity');
  const shares = new Shares();
  const buyer = random.weighing(customers.map((each) => [each, each.employees ** 0.4]));
  const ages = dataset.ages(random, dataset.count(330), 1, OLDEST);
  const deals = ages.map((age, at) =>
    makeDeal(dataset, random, {
      shares,
      reference,
      market,
      customer: buyer(),
      age,
      at,
    }),
  );
  dataset.add(
    'opportunity',
    deals.map(({ row }) => row),
  );
  return deals;
}

/** How many deals are won, neglected, overdue and without an expected close date. */
class Shares {
  readonly won = new Quota();
  readonly neglected = new Quota();
  readonly overdue = new Quota();
  readonly undated = new Quota();
}

interface DealSource {
  shares: Shares;
  reference: Reference;
  market: Market;
  customer: Customer;
  /** Days since it was created. */
  age: number;
  at: number;
}

function makeDeal(dataset: Dataset, random: Random, source: DealSource): Deal {
  const { reference, market, customer, at } = source;
  const course = courseOf(dataset, random, source);
  const scope = makeScope(random, market, customer, random.pick(projects));
  const row = {
    id: random.id(),
    ...described(random, scope),
    externalIdentifier: random.chance(0.85) ? `OPP-${40_001 + at}` : undefined,
    companyId: customer.row.id,
    contactId: customer.contacts.length > 0 ? random.pick(customer.contacts).id : undefined,
    ownerId: course.owner.id,
    ...worth(random, scope),
    categoryId: categoryOf(random, reference, scope),
    sourceId: random.chance(0.6) ? random.pick(reference.sources).id : undefined,
    customFields: random.chance(0.4) ? ownFields(random) : undefined,
    ...stateOf(dataset, random, course, source.shares),
  };
  return { row, customer, scope, course };
}

function described(random: Random, { solution, units }: Scope) {
  const name = random.pick(solution.names).replaceAll('#', String(units));
  const ask = solution.ask.replaceAll('#', String(units));
  const note = random.chance(0.75) ? ` ${random.pick(dealNotes)}` : '';
  return { name, description: random.chance(0.92) ? ask + note : undefined };
}

/** An estimate, which the lines of the quotes are near to. */
function worth(random: Random, { lines, months }: Scope) {
  const totals = totalsOf(lines);
  const error = random.middling(0.92, 1.08);
  const monthly = estimate(totals.monthly * error);
  return {
    onetimeRevenue: estimate(totals.oneTime * error),
    oneTimeProfit: Math.round((totals.oneTime - totals.oneTimeCost) * error),
    monthlyRevenue: monthly,
    monthlyProfit: Math.round((totals.monthly - totals.monthlyCost) * error),
    monthlyChurn: random.chance(0.1) ? estimate(monthly * random.amount(0.1, 0.4)) : undefined,
    valueMonths: months > 0 ? months : undefined,
  };
}

/** Rounded to tens, fifties or hundreds, as estimates are. */
function estimate(amount: number): number {
  const step = amount < 1000 ? 10 : amount < 10_000 ? 50 : 100;
  return Math.round(amount / step) * step;
}

function categoryOf(random: Random, { opportunityCategories }: Reference, { solution }: Scope) {
  const own = opportunityCategories.find(({ name }) => name === solution.category);
  return random.chance(0.85) ? own?.id : undefined;
}

const ownFields = (random: Random) => ({
  region: random.pick(['North', 'South', 'West']),
  leadScore: random.int(1, 100),
});

/** Deals are closed after a few months; those that are too young for that are open. */
function courseOf(dataset: Dataset, random: Random, source: DealSource): Course {
  const { reference, customer, age } = source;
  const owner = ownerOf(random, reference, customer);
  const length = Math.min(400, Math.max(9, Math.round(random.logNormal(138, 0.58))));
  const closing = -dataset.closingDay(random, length - age);
  const decided = outcomeFor(random, source.shares, owner, customer);
  const common = { owner, created: age, length };
  if (length >= age)
    return { ...common, outcome: 'open', ...progress(random, reference, age / length, age) };
  const open = openStages(reference);
  const reached = decided === 'won' ? open.length - 1 : random.int(1, open.length - 1);
  // A deal that was closed without an outcome keeps its stage.
  const last = decided === 'unknown' ? open[reached] : undefined;
  const stage = last ?? reference.stages.find(({ outcome }) => outcome === decided);
  const moved = closing > 0 ? closing : age - length;
  return { ...common, outcome: decided, reached, stage: stage ?? random.pick(open), moved };
}

/** The account manager of the company, usually. */
function ownerOf(random: Random, { owners }: Reference, { row }: Customer): Owner {
  const manager = owners.find(({ id }) => id === row.accountManagerId);
  const other = random.weighted(owners.map((owner) => [owner, owner.share] as const));
  return manager && random.chance(0.85) ? manager : other;
}

/** Prospects have bought nothing: a deal that they agree to makes them a customer. */
function outcomeFor(random: Random, { won }: Shares, { skill }: Owner, { row }: Customer): Outcome {
  if (random.chance(0.035)) return 'unknown';
  return row.type !== 'prospect' && won.next(0.52 * skill) ? 'won' : 'lost';
}

const openStages = ({ stages }: Reference): Stage[] =>
  stages.filter(({ outcome }) => outcome === 'open');

/** The stage of an open deal, by the part of its length that is over. */
function progress(random: Random, reference: Reference, part: number, age: number) {
  const reached = PACE.findLastIndex((start) => start <= part);
  const entered = age * (1 - (PACE[reached] ?? 0) / part);
  const moved = Math.max(0, Math.round(entered) - (reached > 0 ? random.int(0, 4) : 0));
  const open = openStages(reference);
  return { reached, moved, stage: open[reached] ?? random.pick(open) };
}

/** Stage, probability and dates. */
function stateOf(dataset: Dataset, random: Random, course: Course, shares: Shares) {
  const { outcome, stage, created, moved } = course;
  const isOpen = outcome === 'open';
  const createdAt = dataset.moment(random, -created);
  const stageUpdatedAt = dataset.momentAfter(random, -moved, createdAt);
  const filed = moved - random.int(0, Math.min(moved, 9));
  const touched = isOpen ? lastTouch(random, shares, course) : filed;
  const closed = {
    closedAt: stageUpdatedAt,
    expectedCloseDate: dataset.workday(random.int(-24, 12) - moved),
  };
  return {
    outcome,
    pipelineStageId: stage.id,
    statusId: statusFor(dataset, random, outcome),
    probability: probabilityFor(dataset, random, stage),
    createdAt,
    stageUpdatedAt,
    updatedAt: dataset.momentAfter(random, -touched, stageUpdatedAt),
    ...(isOpen ? expected(dataset, random, course, shares) : closed),
  };
}

/** Days since the last update of an open deal: a few are neglected for weeks. */
function lastTouch(random: Random, { neglected }: Shares, { owner, moved }: Course): number {
  const recent = Math.min(moved, Math.round(random.logNormal(6, 0.8)), 27);
  const long = random.int(30, Math.max(30, Math.min(moved, 110)));
  return neglected.next(0.13 * Math.min(owner.neglect, 1.4), moved >= 30) ? long : recent;
}

/** Expected close and start date: usually by the length of the deal; some are overdue, a few far away or missing. */
function expected(dataset: Dataset, random: Random, course: Course, { overdue, undated }: Shares) {
  const { created, length, owner, reached } = course;
  const due = Math.max(2, length - created) * random.middling(0.4, 1.2);
  const late = Math.min(75, Math.max(1, Math.round(random.logNormal(14, 0.9))));
  const soon = dataset.closingDay(random, Math.round(due));
  const far = random.int(400, 800);
  const planned = random.chance(0.015) ? far : soon;
  const isOverdue = overdue.next((reached > 0 ? 0.16 : 0.05) * owner.neglect);
  const offset = isOverdue ? -late : planned;
  const starts = random.chance(0.4) ? random.int(7, 60) : undefined;
  if (undated.next(0.03)) return {};
  return {
    expectedCloseDate: dataset.workday(offset),
    startDate: starts === undefined ? undefined : dataset.day(Math.max(offset, 0) + starts),
  };
}

function statusFor({ profile }: Dataset, random: Random, outcome: Outcome): string | undefined {
  if (outcome === 'unknown') return random.chance(0.5) ? profile.status.closed : undefined;
  return profile.status[outcome];
}

function probabilityFor({ profile }: Dataset, random: Random, stage: Stage): number {
  const own = stage.outcome === 'open' && random.chance(0.3) ? random.int(-2, 2) * 0.05 : 0;
  return cents(Math.min(1, Math.max(0, stage.probability + own)) * profile.probabilityScale);
}
