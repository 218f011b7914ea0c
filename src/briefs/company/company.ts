/** One account: master data, open and closed deals, quotes, contracts, pricing and recent activity. */

import { addDays, contractState, contractStates, type Day, dayOf } from '../../figures/days.ts';
import {
  byValue,
  countByCurrency,
  countUnknown,
  type Deal,
  type DealExtra,
  dealAmounts,
  dealRow,
  toDeal,
  withExtras,
} from '../../figures/deals.ts';
import { compact, nonBlank, nonEmpty, nonZero, nonZeroCounts } from '../../figures/fields.ts';
import { compare, groupBy, limitList, limitSorted } from '../../figures/lists.ts';
import { type CurrencyOf, currencyOfRecord, decimal, rounded } from '../../figures/money.ts';
import { byName, contactName, namedQuote, quoteIdentity, quoteName } from '../../figures/naming.ts';
import { deletionOf, isDeleted, outcomeOf, outcomeWord } from '../../figures/outcome.ts';
import { type ProbabilityScale, probabilityScale } from '../../figures/probability.ts';
import { isOpenQuote, stateFields } from '../../figures/quote-state.ts';
import { quoteTotals, sumQuotes } from '../../figures/quote-totals.ts';
import { filterSteps, forEachStep, type ResultOf, type Steps } from '../../figures/steps.ts';
import { termKey, totalsByTerm } from '../../figures/terms.ts';
import { belongsTo, companyOf } from '../../names/references.ts';
import type {
  ApiRecord,
  Company,
  Contact,
  ContractItem,
  Opportunity,
  Quote,
  RecordLists,
} from '../../service/records/records.ts';
import { keysOf } from '../../values.ts';
import { byOutcome, closedTotals } from '../pipeline/won-and-lost.ts';
import { discountGroupsFor, pricingBooksFor } from '../prices/books.ts';

export interface CompanyOptions {
  today: Day;
  currencyOf: CurrencyOf;
  /** The account manager's name, where it is known. */
  accountManager?: string | undefined;
  /** Of all opportunities; by default of those that are given. */
  probability?: ProbabilityScale | undefined;
  maxRows: number;
  /** Additional columns of open deals. */
  show: readonly DealExtra[];
}

export type CompanyBrief = ResultOf<typeof companyBrief>;

const recentDays = 30;

/**
 * Briefs one company, without the parts of missing collections. Definitions: docs/definitions.md, "Company".
 * @param records whole collections of the tenant
 */
export function* companyBrief(company: Company, records: RecordLists, options: CompanyOptions) {
  const { contract_item: items, discount_group: groups, pricing_book: books } = records;
  const { today, maxRows, accountManager } = options;
  const own = {
    company: [company],
    contact: yield* recordsOf(company, records.contact),
    opportunity: yield* recordsOf(company, records.opportunity),
    quote: yield* recordsOf(company, records.quote),
  };
  const { contact: contacts, opportunity: deals, quote: quotes } = own;
  const sections = deals && (yield* dealSections(deals, records.opportunity, options));
  const from = addDays(today, -recentDays);
  const changes = recentChanges(own, from, today);
  yield;
  return compact({
    today,
    company: companyCard(company, accountManager),
    contacts: contacts && limitedContacts(contacts, maxRows),
    ...sections,
    quotes: quotes && quotesOfCompany(quotes, options),
    contractItems: items && (yield* contractsOf(company, items, options)),
    discountGroups: groups && discountGroupsFor(company, groups, maxRows),
    pricingBooks: books && pricingBooksFor(company, books, today, maxRows),
    recentActivity: { from, to: today, ...limitList(changes, maxRows) },
    // In no figure.
    deleted: deletedRecords(company, records),
  });
}

/** The company's own records that are not deleted. */
function* recordsOf<R extends ApiRecord>(
  company: Company,
  records: readonly R[] | undefined,
): Steps<readonly R[] | undefined> {
  if (!records) return undefined;
  return yield* filterSteps(records, (each) => !isDeleted(each) && belongsTo(each, company));
}

function deletedRecords(company: Company, records: RecordLists) {
  const count = (all: readonly ApiRecord[] = []): number =>
    all.filter((record) => isDeleted(record) && belongsTo(record, company)).length;
  return nonZeroCounts({
    contacts: count(records.contact),
    opportunities: count(records.opportunity),
    quotes: count(records.quote),
    contractItems: count(records.contract_item),
  });
}

function companyCard(company: Company, manager: string | undefined) {
  const { labels } = company;
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
    accountManagerId: manager === undefined ? nonBlank(company.accountManagerId) : undefined,
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
  return { ...compact({ withoutEmail }), ...limitList(rows.sort(byName), limit) };
}

/** `closed`: over all time. */
function* dealSections(
  own: readonly Opportunity[],
  all: readonly Opportunity[] = [],
  options: CompanyOptions,
) {
  const probability = options.probability ?? probabilityScale(all);
  const { currencyOf, show } = options;
  const deals = own.map((each) => toDeal(each, currencyOf, probability.scale));
  const open = deals.flatMap((deal) => (deal.outcome === 'open' ? withExtras(deal, show) : []));
  return {
    open: yield* openDeals(open, options),
    closed: closedDeals(deals),
    probability: deals.length > 0 ? probability : undefined,
  };
}

function* openDeals(open: readonly Deal[], { today, maxRows }: CompanyOptions) {
  const toRow = (deal: Deal) => {
    const { company: _company, ...row } = dealRow(deal);
    const { pipelineStage, expectedCloseDate } = deal.record;
    const stage = nonBlank(pipelineStage?.name);
    return { ...row, ...compact({ stage, closes: dayOf(expectedCloseDate) }) };
  };
  const overdue = open.filter(({ record }) => (dayOf(record.expectedCloseDate) ?? today) < today);
  return compact({
    ...dealAmounts(open),
    countByCurrency: countByCurrency(open),
    overdue: nonZero(overdue.length),
    unknown: nonZeroCounts(countUnknown(open)),
    ...(yield* limitSorted(open, byValue, maxRows, toRow)),
  });
}

function closedDeals(deals: readonly Deal[]) {
  const { won, lost, unknown } = byOutcome(deals);
  const totals = (of: readonly Deal[]) => (of.length > 0 ? closedTotals(of) : undefined);
  return nonEmpty(
    compact({ won: totals(won), lost: totals(lost), outcomeUnknown: totals(unknown) }),
  );
}

type Contract = ReturnType<typeof toContract>;

/**
 * Items of the company: those that run first, then by service and id; sums over all of them, shown or not. Revenue and
 * profit as the items give them: not multiplied by the quantity.
 */
function* contractsOf(
  company: Company,
  items: readonly ContractItem[],
  { today, currencyOf, maxRows }: CompanyOptions,
) {
  const contracts: Contract[] = [];
  let withoutCompany = 0;
  yield* forEachStep(items, (item) => {
    if (isDeleted(item)) return;
    if (belongsTo(item, company))
      contracts.push(toContract({ ...item, company }, currencyOf, today));
    else if (Object.keys(companyOf(item)).length === 0) withoutCompany += 1;
  });
  contracts.sort((a, b) => byState(a, b) || byName(a, b));
  return compact({
    beta: true as const,
    byState: [...groupBy(contracts, ({ state, currency }) => `${state} ${currency}`).values()]
      .map(totalsOf)
      .sort((a, b) => byState(a, b) || compare(a.currency, b.currency)),
    // Of the tenant: their owner is not known.
    withoutCompany: nonZero(withoutCompany),
    ...limitList(contracts.map(toContractRow), maxRows),
  });
}

const toContract = (item: ContractItem, currencyOf: CurrencyOf, today: Day) => ({
  item,
  ...compact({ id: nonBlank(item.id), name: nonBlank(item.service) ?? nonBlank(item.name) }),
  state: contractState(item, today),
  currency: currencyOfRecord(item, currencyOf),
});

const byState = (a: Pick<Contract, 'state'>, b: Pick<Contract, 'state'>): number =>
  contractStates.indexOf(a.state) - contractStates.indexOf(b.state);

function totalsOf(contracts: readonly [Contract, ...Contract[]]) {
  const [{ state, currency }] = contracts;
  const items = contracts.map(({ item }) => item);
  return compact({
    state,
    currency,
    count: items.length,
    revenue: sumByTerm(items, 'revenue'),
    profit: sumByTerm(items, 'profit'),
    unknownRevenue: nonZero(items.filter(({ revenue }) => revenue === undefined).length),
    withoutEnd: nonZero(items.filter(({ endDate }) => !dayOf(endDate)).length),
  });
}

const sumByTerm = (items: readonly ContractItem[], field: 'revenue' | 'profit') =>
  nonEmpty(totalsByTerm(items.map((item) => [termKey(item), decimal(item[field])])));

function toContractRow({ item, id, name, state, currency }: Contract) {
  const [revenue, profit] = [decimal(item.revenue), decimal(item.profit)];
  return compact({
    id,
    service: name,
    vendor: nonBlank(item.vendor),
    state,
    term: termKey(item),
    quantity: item.quantity,
    revenue: revenue && rounded(revenue),
    profit: profit && rounded(profit),
    currency,
    starts: dayOf(item.startDate),
    ends: dayOf(item.endDate),
  });
}

/** Open quotes first, then by the day of creation, newest first, then by name and id. */
function quotesOfCompany(quotes: readonly Quote[], options: CompanyOptions) {
  const isOpen = (quote: Quote): number => Number(isOpenQuote(quote, options.today));
  const sorted = quotes.toSorted(
    (a, b) =>
      isOpen(b) - isOpen(a) ||
      compare(dayOf(b.createdAt) ?? '', dayOf(a.createdAt) ?? '') ||
      byName(namedQuote(a), namedQuote(b)),
  );
  const list = limitList(sorted, options.maxRows);
  const rows = list.rows.map((quote) => toQuoteRow(quote, options));
  return { byStatus: quotesByStatus(quotes, options), ...list, rows };
}

const toQuoteRow = (quote: Quote, { today, currencyOf }: CompanyOptions) =>
  compact({
    ...quoteIdentity(quote),
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
    ...quoteTotals(quote),
    created: dayOf(quote.createdAt),
    expires: dayOf(quote.expiresAt),
  });

const statusOrder = ['draft', 'sent', 'approved', 'declined', 'expired'];

/** By status, acceptance and currency; amounts after discounts. */
function quotesByStatus(quotes: readonly Quote[], { today, currencyOf }: CompanyOptions) {
  const keyOf = (quote: Quote) => ({
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
  });
  const groups = groupBy(quotes, (quote) => JSON.stringify(keyOf(quote)));
  const rows = [...groups.values()].map((group) => {
    const { totals, firstYear, unknownPrices, unknownItems } = sumQuotes(group);
    return compact({
      ...keyOf(group[0]),
      count: group.length,
      ...totals,
      firstYearValue: firstYear && rounded(firstYear),
      unknownPrices: nonZero(unknownPrices),
      unknownItems: nonZero(unknownItems),
    });
  });
  const at = ({ status }: { status: string }) => [...statusOrder, status].indexOf(status);
  return rows.sort(
    (a, b) =>
      at(a) - at(b) ||
      compare(a.status, b.status) ||
      compare(a.acceptance ?? '', b.acceptance ?? '') ||
      compare(a.currency, b.currency),
  );
}

/** Events by rising importance: of two on one day, the later in this list is reported. */
type TimedEvents = readonly (readonly [what: string, time: string | undefined])[];

const eventsOf = {
  company: (): TimedEvents => [],
  contact: (): TimedEvents => [],
  opportunity: (record: Opportunity): TimedEvents => [
    ['stage changed', record.stageUpdatedAt],
    [outcomeWord(outcomeOf(record)), record.closedAt],
  ],
  quote: (record: Quote): TimedEvents => [
    ['sent', record.sentAt],
    ['approved', record.approvedAt],
    ['declined', record.declinedAt],
    ['expired', record.expiredAt],
  ],
};

/** The newest event of each record over these days, newest first, then by name and id. */
function recentChanges(own: RecordLists, from: Day, to: Day) {
  const changes = keysOf(eventsOf).flatMap((kind) =>
    (own[kind] ?? []).flatMap((record) => {
      const events: TimedEvents = [['created', record.createdAt], ...eventsOf[kind](record)];
      // "Updated" is the least specific event, so it is reported only if there is no other.
      const newest =
        newestEvent(events, from, to) ?? newestEvent([['updated', record.updatedAt]], from, to);
      const name = kind === 'quote' ? quoteName(record) : contactName(record);
      return newest ? [compact({ ...newest, kind, id: nonBlank(record.id), name })] : [];
    }),
  );
  return changes.sort((a, b) => compare(b.day, a.day) || byName(a, b) || compare(a.kind, b.kind));
}

function newestEvent(events: TimedEvents, from: Day, to: Day) {
  const inPeriod = events.flatMap(([what, time]) => {
    const day = dayOf(time);
    return day && from <= day && day <= to ? [{ day, what }] : [];
  });
  return inPeriod.sort((a, b) => compare(a.day, b.day)).at(-1);
}
