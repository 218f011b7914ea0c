import type { Row } from '../json.ts';
import type { Customer } from './companies.ts';
import type { Dataset } from './dataset.ts';
import type { Deal } from './opportunities.ts';
import { cents, Quota, type Random } from './random.ts';
import type { Reference } from './reference.ts';
import { type Line, type Market, makeScope, type Scope, totalsOf } from './scope.ts';
import { orders } from './solutions.ts';
import { itemNotes } from './words.ts';

type Status = 'draft' | 'sent' | 'approved' | 'declined' | 'expired';

/** A quote that is to be made. Times are days before today. */
interface Plan {
  customer: Customer;
  ownerId: string;
  scope: Scope;
  deal: Deal | undefined;
  status: Status;
  created: number;
  sent: number;
  /** When it was approved, declined or last edited. */
  answered: number;
}

/** The records that quotes refer to. */
export interface QuoteSources {
  reference: Reference;
  customers: Customer[];
  deals: Deal[];
  market: Market;
}

/** Quotes of deals, and orders without a deal; numbered in the order of their creation. */
export function makeQuotes(dataset: Dataset, sources: QuoteSources): void {
  const random = dataset.random.fork('quote');
  const count = dataset.count(365);
  const leftOpen = new Quota();
  const plans = random.some(
    sources.deals.flatMap((deal) => plansFor(random, deal, leftOpen)),
    Math.ceil(count * 0.8),
  );
  while (plans.length < count) plans.push(orderPlan(random, sources));
  const empty = new Set(random.some(plans, Math.max(1, Math.round(count * 0.012))));
  const quotes = plans.map((plan) => ({
    row: makeQuote(dataset, random, sources.reference, plan),
    lines: empty.has(plan) ? [] : plan.scope.lines,
  }));
  quotes.sort(({ row: one }, { row: other }) => (one.createdAt < other.createdAt ? -1 : 1));
  quotes.forEach(({ row, lines }, at) => {
    row.number = `Q-${row.createdAt.slice(0, 4)}-${1001 + at}`;
    dataset.add('quote', [row]);
    dataset.add('quote_item', makeItems(random, row.id, lines));
    if (lines.length === 0) dataset.mark('quote', row, 'no items');
  });
}

/** An early deal has no quote, a later one a draft, then a sent quote; some have an earlier version. */
function plansFor(random: Random, deal: Deal, leftOpen: Quota): Plan[] {
  const { outcome, reached, moved, created, owner } = deal.course;
  const common = { deal, customer: deal.customer, ownerId: owner.id, scope: deal.scope };
  if (outcome !== 'open') return closedPlans(random, deal, common, leftOpen);
  if (reached < 2) return [];
  if (reached === 2) {
    const drafted = random.int(0, moved);
    const edited = random.int(0, drafted);
    const draft = {
      ...common,
      status: 'draft',
      created: drafted,
      sent: 0,
      answered: edited,
    } as const;
    return random.chance(0.6) ? [draft] : [];
  }
  const first = reached === 3 ? moved : random.int(moved, Math.min(created, moved + 20));
  const again = random.int(1, 20);
  const sent = first > 20 && random.chance(0.65) ? again : first;
  const current = {
    ...common,
    status: 'sent',
    created: before(random, deal, sent),
    sent,
    answered: sent,
  } as const;
  return [current, ...earlier(random, deal, common, current.created)];
}

type Common = Pick<Plan, 'deal' | 'customer' | 'ownerId' | 'scope'>;

/** A few days before that day, but not before the deal. */
const before = (random: Random, { course }: Deal, day: number): number =>
  Math.min(course.created, day + random.int(0, 6));

/** The quote that decided a deal; for one deal in nine another quote is still open. */
function closedPlans(random: Random, deal: Deal, common: Common, leftOpen: Quota): Plan[] {
  const { outcome, moved, created } = deal.course;
  const answered = Math.min(created, moved + random.int(0, 2));
  const sent = Math.min(created, answered + Math.max(1, Math.round(random.logNormal(12, 0.7))));
  const expired = Math.min(created, moved + random.int(31, 50));
  const lost = random.weighted<Status | undefined>([
    ['declined', 50],
    ['expired', 22],
    [undefined, 28],
  ]);
  const status = outcome === 'won' ? 'approved' : outcome === 'lost' ? lost : 'expired';
  const forgotten = { ...common, status: 'sent', created: sent, sent, answered: sent } as const;
  const open = leftOpen.next(1 / 9) ? [forgotten] : [];
  if (status === undefined) return open;
  const out = status === 'expired' ? expired : sent;
  const current = { ...common, status, created: before(random, deal, out), sent: out, answered };
  return [...open, current, ...earlier(random, deal, common, current.created)];
}

/** An earlier, declined version with other quantities. */
function earlier(random: Random, deal: Deal, common: Common, day: number): Plan[] {
  const answered = Math.min(deal.course.created, day + random.int(0, 3));
  const sent = Math.min(deal.course.created, answered + random.int(3, 14));
  const factor = random.amount(0.8, 1.25);
  const lines = common.scope.lines.map((line) => ({
    ...line,
    quantity: Math.max(1, Math.round(line.quantity * factor)),
  }));
  const plan = { status: 'declined', created: before(random, deal, sent), sent, answered } as const;
  const room = deal.course.created - day > 10;
  return random.chance(0.22) && room
    ? [{ ...common, scope: { ...common.scope, lines }, ...plan }]
    : [];
}

function orderPlan(random: Random, { customers, market, reference }: QuoteSources): Plan {
  const buying = customers.filter(({ row }) => row.type !== 'prospect');
  const customer = random.pick(buying.length > 0 ? buying : customers);
  const status = random.weighted<Status>([
    ['draft', 13],
    ['sent', 14],
    ['approved', 55],
    ['declined', 9],
    ['expired', 9],
  ]);
  const sent = sentDay(random, status);
  const answered = Math.max(0, sent - Math.round(random.logNormal(5, 0.8)));
  return {
    customer,
    ownerId: customer.row.accountManagerId ?? random.pick(reference.owners).id,
    scope: makeScope(random, market, customer, random.pick(orders)),
    deal: undefined,
    status,
    created: sent + random.int(0, 4),
    sent,
    answered: status === 'draft' ? random.int(0, sent) : answered,
  };
}

function sentDay(random: Random, status: Status): number {
  const recent = Math.round(random.logNormal(9, 0.9));
  const past = random.int(36, 400);
  if (status === 'draft' || status === 'sent') return Math.min(120, recent);
  return status === 'approved' ? random.int(1, 400) : past;
}

function makeQuote(dataset: Dataset, random: Random, { paymentTerms }: Reference, plan: Plan) {
  const { customer, deal, scope } = plan;
  const id = random.id();
  const person = customer.contacts.length > 0 ? random.pick(customer.contacts).id : undefined;
  const dates = history(dataset, random, plan);
  const titled = deal !== undefined && random.chance(0.85);
  return {
    id,
    number: '',
    title: titled ? deal.row.name : (scope.solution.names[0]?.replace(/,? ?#.*/, '') ?? 'Quote'),
    link: `https://quotes.${dataset.tenant}.example/view/${id}`,
    companyId: customer.row.id,
    contactId: deal?.row.contactId ?? person,
    ownerId: plan.ownerId,
    opportunityId: deal?.row.id,
    paymentTermId: random.chance(0.96) ? random.pick(paymentTerms).id : undefined,
    showUnitPrices: random.chance(0.8),
    showTotals: true,
    showManufacturer: random.chance(0.5),
    ...discount(random, scope),
    ...contract(dataset, random, plan),
    ...dates,
  };
}

/** One quote in five has a discount: at most a quarter of its margin. */
function discount(random: Random, { lines }: Scope) {
  const { oneTime, oneTimeCost, monthly, monthlyCost } = totalsOf(lines);
  const [price, cost] = [oneTime + 12 * monthly, oneTimeCost + 12 * monthlyCost];
  const maxPercent = Math.max(0, ((price - cost) / price) * 25);
  const percent = Math.max(1, Math.round(random.amount(0.3, 1) * maxPercent));
  const given = random.chance(0.2);
  const amount = Math.round((oneTime * percent) / 1000) * 10;
  const inPercent = random.chance(0.6) || amount === 0;
  if (!given) return {};
  return inPercent
    ? { discountType: 'percentage', discountAmount: percent }
    : { discountType: 'amount', discountAmount: amount };
}

/** A contract starts with the first of a month after the quote was accepted. */
function contract(dataset: Dataset, random: Random, { scope: { months }, status, answered }: Plan) {
  const start = random.int(7, 45) - (status === 'approved' ? answered : 0);
  if (months === 0) return {};
  const starts = `${dataset.day(start).slice(0, 7)}-01`;
  const ends = new Date(Date.parse(starts));
  ends.setUTCMonth(ends.getUTCMonth() + months, 0);
  return {
    contractStartDate: starts,
    contractEndDate: ends.toISOString().slice(0, 10),
    contractDurationAmount: months,
    contractDurationUnit: 'month',
  };
}

/** Status and the dates that go with it. A quote is valid for 30 days, or a few more, from when it was sent. */
function history(dataset: Dataset, random: Random, { status, created, sent, answered }: Plan) {
  const createdAt = dataset.moment(random, -created);
  const sentAt = dataset.momentAfter(random, -sent, createdAt);
  const answeredAt = dataset.momentAfter(
    random,
    -answered,
    status === 'draft' ? createdAt : sentAt,
  );
  const valid = random.weighted([
    [30, 60],
    [45, 25],
    [60, 15],
  ]);
  const expiresAt = dataset.moment(random, (status === 'expired' ? 30 : valid) - sent);
  const dates: Record<Status, Row> = {
    draft: {},
    sent: { expiresAt },
    approved: { approvedAt: answeredAt },
    declined: { declinedAt: answeredAt },
    expired: { expiresAt, expiredAt: expiresAt },
  };
  return {
    status,
    createdAt,
    updatedAt: status === 'expired' ? expiresAt : answeredAt,
    ...(status === 'draft' ? {} : { sentAt }),
    ...dates[status],
  };
}

function makeItems(random: Random, quoteId: string, lines: readonly Line[]): Row[] {
  return lines.map(({ product, ...terms }, position) => ({
    id: random.id(),
    quoteId,
    position,
    name: product.name,
    description: itemText(random, product.shortDescription),
    productType: product.productType,
    mpn: product.mpn,
    manufacturer: product.manufacturer,
    categoryId: product.categoryId,
    productId: product.id,
    ...terms,
    markup: cents((terms.price / terms.cost - 1) * 100),
    unit: product.unit,
    term: product.term,
  }));
}

function itemText(random: Random, shortDescription: string | undefined): string | undefined {
  const note = random.chance(0.75) ? random.pick(itemNotes) : undefined;
  const text = [shortDescription, note].filter(Boolean).join(' ');
  return text === '' ? undefined : text;
}
