/** One account: master data, open and closed deals, quotes, contracts, pricing and recent activity. */

import { addDays, type Day, dayOf, requireDay } from '../../figures/days.ts';
import {
  byValue,
  countByCurrency,
  countUnknown,
  type Deal,
  type DealExtra,
  dealAmounts,
  dealRow,
  toDeal,
  totalValue,
} from '../../figures/deals.ts';
import type { CurrencyOf } from '../../figures/money.ts';
import {
  byName,
  compact,
  contactName,
  limitList,
  limitSorted,
  nonBlank,
  nonZero,
  nonZeroCounts,
} from '../../figures/naming.ts';
import { deletionOf, isDeleted } from '../../figures/outcome.ts';
import { type ProbabilityScale, probabilityScale } from '../../figures/probability.ts';
import type { ResultOf } from '../../figures/steps.ts';
import { belongsTo } from '../../names/company-reference.ts';
import type {
  ApiRecord,
  Category,
  Company,
  Contact,
  ContractItem,
  DiscountGroup,
  Opportunity,
  PricingBook,
  Product,
  Quote,
} from '../../service/records/records.ts';
import { discountGroupsFor, pricingBooksFor } from '../prices/books.ts';
import { quotesOfCompany } from './company-quotes.ts';
import { contractsOf } from './contracts.ts';
import { type Market, marketOf, neverBought } from './never-bought.ts';
import { recentChanges } from './recent-activity.ts';

/**
 * Whole collections of the tenant, or with the prepared options those records only that belong to the company. The brief
 * omits the part of a missing collection.
 */
export interface CompanyRecords {
  company: Company;
  contacts?: readonly Contact[] | undefined;
  opportunities?: readonly Opportunity[] | undefined;
  quotes?: readonly Quote[] | undefined;
  contractItems?: readonly ContractItem[] | undefined;
  discountGroups?: readonly DiscountGroup[] | undefined;
  pricingBooks?: readonly PricingBook[] | undefined;
  products?: readonly Product[] | undefined;
  categories?: readonly Category[] | undefined;
}

export interface CompanyOptions {
  today: Day;
  currencyOf: CurrencyOf;
  /** How the tenant's probabilities are read; default: decided from `opportunities`. */
  probability?: ProbabilityScale;
  /** Default: made of all products, quotes and categories, where these are known. */
  market?: Market | undefined;
  /** The name of a person by id, where it is known. */
  nameOf?: (person: string) => string | undefined;
  /** Rows in each list. Default: 5. */
  maxRows?: number;
  /** Additional columns of open deals. Default: none. */
  show?: readonly DealExtra[];
}

export type CompanyBrief = ResultOf<typeof companyBrief>;

/** Days covered by recent activity. */
const recentDays = 30;
const defaults = { maxRows: 5, show: [] };
type ResolvedOptions = CompanyOptions & Required<Pick<CompanyOptions, 'maxRows' | 'show'>>;

/**
 * Briefs one company from whole collections. Definitions: docs/definitions.md, "Company".
 *
 * @throws RangeError if `today` is not a day.
 */
export function* companyBrief(records: CompanyRecords, options: CompanyOptions) {
  const today = requireDay(options.today, 'today');
  const resolved: ResolvedOptions = { ...defaults, ...compact(options), today };
  const { company, contractItems, discountGroups, pricingBooks } = records;
  const { maxRows } = resolved;
  const own = ownRecords(records);
  const card = companyCard(company, resolved.nameOf);
  const contacts = own.contacts && limitedContacts(own.contacts, maxRows);
  yield;
  const deals = yield* dealSections(own.opportunities, records.opportunities, resolved);
  yield;
  const quotes = own.quotes && quotesOfCompany(own.quotes, resolved);
  yield;
  const activity = recentActivity(company, own, resolved);
  yield;
  return compact({
    today,
    company: card,
    contacts,
    open: deals?.open,
    // Over all time.
    closed: deals?.closed,
    probability: deals?.probability,
    quotes,
    contractItems: contractItems && (yield* contractsOf(company, contractItems, resolved)),
    discountGroups: discountGroups && discountGroupsFor(company, discountGroups, maxRows),
    pricingBooks: pricingBooks && pricingBooksFor(company, pricingBooks, today, maxRows),
    neverBought: yield* suggestions(records, own.quotes, resolved),
    recentActivity: { from: addDays(today, -recentDays), to: today, ...activity },
    // In no figure.
    deleted: deletedRecords(records),
  });
}

/** Needs quotes and products; categories only add names. */
function* suggestions(
  { quotes, products, categories = [] }: CompanyRecords,
  own: readonly Quote[] | undefined,
  { market, maxRows, today }: ResolvedOptions,
) {
  if (!quotes || !own || !products) return undefined;
  const known = market ?? (yield* marketOf({ quotes, products, categories }));
  return yield* neverBought(known, own, { today, limit: maxRows });
}

function recentActivity(company: Company, own: OwnRecords, options: ResolvedOptions) {
  const { contacts = [], opportunities = [], quotes = [] } = own;
  const account = {
    company: [company],
    contact: contacts,
    opportunity: opportunities,
    quote: quotes,
  };
  const changes = recentChanges(account, options.today, recentDays);
  return limitList(changes, options.maxRows, (change) => change);
}

type OwnRecords = ReturnType<typeof ownRecords>;

function ownRecords({ company, contacts, opportunities, quotes }: CompanyRecords) {
  return {
    contacts: contacts && recordsOf(company, contacts),
    opportunities: opportunities && recordsOf(company, opportunities),
    quotes: quotes && recordsOf(company, quotes),
  };
}

/** The company's own records that are not deleted. */
export const recordsOf = <R extends ApiRecord>(company: Company, records: readonly R[]): R[] =>
  records.filter((record) => !isDeleted(record) && belongsTo(record, company));

function deletedRecords(records: CompanyRecords) {
  const { company, contacts = [], opportunities = [], quotes = [], contractItems = [] } = records;
  const count = (all: readonly ApiRecord[]): number =>
    all.filter((record) => isDeleted(record) && belongsTo(record, company)).length;
  return nonZeroCounts({
    contacts: count(contacts),
    opportunities: count(opportunities),
    quotes: count(quotes),
    contractItems: count(contractItems),
  });
}

/** The account manager has a name if the person owns any opportunity or quote of the tenant. */
function companyCard(company: Company, nameOf: CompanyOptions['nameOf']) {
  const { labels } = company;
  const managerId = nonBlank(company.accountManagerId);
  const manager = managerId && nonBlank(nameOf?.(managerId));
  return compact({
    id: nonBlank(company.id),
    name: nonBlank(company.name),
    deleted: deletionOf(company),
    type: nonBlank(company.type),
    currency: nonBlank(company.currency),
    website: nonBlank(company.website),
    telephone: nonBlank(company.telephone),
    address: addressOf(company),
    accountManager: manager,
    accountManagerId: manager === undefined ? managerId : undefined,
    parentCompanyId: nonBlank(company.parentCompanyId),
    externalIdentifier: nonBlank(company.externalIdentifier),
    labels: labels?.length ? labels : undefined,
    created: dayOf(company.createdAt),
  });
}

function addressOf({ address }: Company): string | undefined {
  const parts = Object.values(address ?? {}).flatMap((part) =>
    typeof part === 'string' ? (nonBlank(part) ?? []) : [],
  );
  return nonBlank(parts.join(', '));
}

function limitedContacts(contacts: readonly Contact[], limit: number) {
  const rows = contacts.map((contact) =>
    compact({
      id: nonBlank(contact.id),
      name: contactName(contact),
      email: nonBlank(contact.email),
      phone: nonBlank(contact.phone) ?? nonBlank(contact.mobilePhone),
    }),
  );
  const withoutEmail = nonZero(rows.filter(({ email }) => !email).length);
  return { ...compact({ withoutEmail }), ...limitList(rows.sort(byName), limit, (row) => row) };
}

function* dealSections(
  own: readonly Opportunity[] | undefined,
  all: readonly Opportunity[] | undefined,
  options: ResolvedOptions,
) {
  if (!own || !all) return undefined;
  const probability = options.probability ?? probabilityScale(all);
  const deals = own.map((record) => toDeal(record, options.currencyOf, probability.scale));
  return {
    open: yield* openDeals(
      deals.filter(({ outcome }) => outcome === 'open'),
      options,
    ),
    closed: closedDeals(deals),
    probability: deals.length > 0 ? probability : undefined,
  };
}

function* openDeals(open: readonly Deal[], { today, maxRows, show }: ResolvedOptions) {
  const toRow = (deal: Deal) => {
    const { company: _company, ...row } = dealRow(deal, show);
    const { pipelineStage, expectedCloseDate } = deal.record;
    const stage = nonBlank(pipelineStage?.name);
    return { ...row, ...compact({ stage, closes: dayOf(expectedCloseDate) }) };
  };
  const overdue = open.filter(({ record }) => (dayOf(record.expectedCloseDate) ?? today) < today);
  return {
    ...dealAmounts(open, show),
    ...compact({
      countByCurrency: countByCurrency(open),
      overdue: nonZero(overdue.length),
      unknown: nonZeroCounts({ ...countUnknown(open) }),
    }),
    ...(yield* limitSorted(open, byValue, maxRows, toRow)),
  };
}

function closedDeals(deals: readonly Deal[]) {
  const totals = (outcome: Deal['outcome']) => {
    const of = deals.filter((deal) => deal.outcome === outcome);
    if (of.length === 0) return undefined;
    return compact({ count: of.length, value: totalValue(of).toAmounts() });
  };
  const closed = compact({
    won: totals('won'),
    lost: totals('lost'),
    outcomeUnknown: totals('closed_unknown'),
  });
  return Object.keys(closed).length > 0 ? closed : undefined;
}
