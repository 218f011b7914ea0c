import { bookHolds, contractsSql } from './checks.ts';
import type { Deal } from './deals.ts';
import { numberIn, rounded, roundedOr, sumOf } from './decimal.ts';
import { byName, compare, counts, descending, grouped, only } from './order.ts';
import { countByCurrency, outcomes, sums, unknownOfOpen } from './pipeline.ts';
import { appliesTo, nearness } from './preflight.ts';
import {
  acceptanceOf,
  defaultTerms,
  firstYearOf,
  isOpen,
  netOf,
  type Quote,
  statusOf,
  titled,
  totalsOf,
} from './quotes.ts';
import { type Company, isOfCompany, recentActivity } from './recent-activity.ts';
import { type Ask, contactName, given, isSet, type SqlRow, text } from './sql.ts';

/** Data of the tenant that all companies share. */
export interface Tenant {
  ask: Ask;
  today: string;
  deals: readonly Deal[];
  quotes: readonly Quote[];
}

type Reported = Record<string, unknown>;

/** The expected brief of a company, as defined in docs/definitions.md. */
export function expectedCompany(tenant: Tenant, company: Company, shown: number): Reported {
  return {
    contacts: contactsOf(tenant, company, shown),
    ...dealsOfCompany(tenant, company, shown),
    quotes: quotesOfCompany(tenant, company, shown),
    contractItems: contractItemsOf(tenant, company, shown),
    discountGroups: groupsOf(tenant, company, shown),
    pricingBooks: booksOfCompany(tenant, company, shown),
    recentActivity: recentActivity(tenant.ask, company, shown),
    ...deletedOf(tenant, company),
  };
}

/** Deleted records are counted, and in no other figure. */
function deletedOf({ ask }: Tenant, { id, name }: Company): Reported {
  const number = (table: string, mark: string): number => {
    const own = table === 'contact' ? isOfCompany : `r.companyId = ?3 and ?4 is not null`;
    const [row] = ask(
      `${given} select count(*) as n from it join ${table} r using (tenant)
        where ${isSet(`r.${mark}`)} and ${own}`,
      id,
      name ?? '',
    );
    return Number(row?.n);
  };
  const deleted = counts({
    contacts: number('contact', 'deleted'),
    opportunities: number('opportunity', 'deletedAt'),
    quotes: number('quote', 'deletedAt'),
    contractItems: number('contract_item', 'deletedAt'),
  });
  return deleted === undefined ? {} : { deleted };
}

const listed = (rows: readonly Reported[], shown: number): Reported => ({
  shown: Math.min(shown, rows.length),
  total: rows.length,
  rows: rows.slice(0, shown),
});

function contactsOf({ ask }: Tenant, { id, name }: Company, shown: number): Reported {
  const rows = ask(
    `${given} select r.id, ${contactName} as name, trim(coalesce(r.email, '')) = '' as blank
      from it join contact r using (tenant)
      where not ${isSet('r.deleted')} and ${isOfCompany}`,
    id,
    name ?? '',
  );
  const contacts = rows
    .map((row) => ({ id: String(row.id), name: text(row, 'name') }))
    .sort(byName);
  return {
    ...listed(
      contacts.map(({ id }) => ({ id })),
      shown,
    ),
    ...counts({ withoutEmail: rows.filter(({ blank }) => blank === 1).length }),
  };
}

function dealsOfCompany({ deals, today }: Tenant, { id }: Company, shown: number): Reported {
  const its = deals.filter(({ company }) => company.id === id);
  const open = its
    .filter(({ outcome }) => outcome === 'open')
    .sort((one, other) => descending(one.value, other.value) || byName(one, other));
  const rows = open.map(({ id, value, currency, closes }) =>
    only({ id, value: roundedOr(value), currency: value && currency, closes }),
  );
  const overdue = open.filter(({ closes }) => closes && closes < today).length;
  return {
    open: only({
      ...sums(open),
      countByCurrency: countByCurrency(open),
      ...counts({ overdue }),
      unknown: counts(unknownHere(open)),
      ...listed(rows, shown),
    }),
    ...closedOf(its),
  };
}

/** Numbers of unknown values in the sums; missing dates show in the rows. */
function unknownHere(open: readonly Deal[]): Record<string, number> {
  const { revenue, probability, valueMonths, currency } = unknownOfOpen(open);
  return { revenue, probability, valueMonths, currency };
}

/** Times without a value are left out. */
function closedOf(deals: readonly Deal[]): Reported {
  const some = Object.entries(outcomes(deals)).filter(([, { count }]) => count !== 0);
  return some.length === 0 ? {} : { closed: Object.fromEntries(some) };
}

const statusCategories = ['draft', 'sent', 'approved', 'declined', 'expired'];

function quotesOfCompany({ quotes }: Tenant, { id }: Company, shown: number): Reported {
  const its = quotes.filter(
    ({ companyId, statusCategory }) => companyId === id && statusCategory !== 'deleted',
  );
  const byStatus = [
    ...grouped(its, (it) => `${statusOf(it)} ${acceptanceOf(it)} ${it.currency}`).values(),
  ].map(addedUp);
  const rows = [...its].sort(
    (one, other) =>
      Number(isOpen(other)) - Number(isOpen(one)) ||
      compare(other.created, one.created) ||
      byName(titled(one), titled(other)),
  );
  return {
    byStatus: byStatus.sort(byStatusCategory),
    ...listed(
      rows.map((quote) => ({ id: quote.id, ...stateOf(quote), ...totalsOf(quote) })),
      shown,
    ),
  };
}

/** The acceptance is left out where the status says it. */
function stateOf(quote: Quote) {
  const [status, acceptance] = [statusOf(quote), acceptanceOf(quote)];
  return only({ status, acceptance: acceptance === status ? undefined : acceptance });
}

function byStatusCategory(one: Reported, other: Reported): number {
  const place = ({ status }: Reported) => [...statusCategories, status].indexOf(status);
  return (
    place(one) - place(other) ||
    compare(String(one.status), String(other.status)) ||
    compare(String(one.acceptance), String(other.acceptance)) ||
    compare(String(one.currency), String(other.currency))
  );
}

/** Totals of several quotes of one currency. */
function addedUp(quotes: readonly Quote[]): Reported {
  const [first] = quotes;
  const nets = quotes.map(netOf);
  const sum = (name: string) => roundedOr(sumOf(nets.map((net) => net.get(name))));
  const others = new Set(nets.flatMap((net) => [...net.keys()]));
  for (const name of defaultTerms) others.delete(name);
  const unknown = quotes.map((quote) => Number(totalsOf(quote).unknownPrices ?? 0));
  return only({
    ...(first && stateOf(first)),
    currency: first?.currency,
    count: quotes.length,
    oneTime: sum('one-time'),
    monthly: sum('monthly'),
    yearly: sum('yearly'),
    firstYearValue: roundedOr(sumOf(nets.map(firstYearOf))),
    otherTerms:
      others.size === 0
        ? undefined
        : Object.fromEntries([...others].map((name) => [name, sum(name)])),
    ...counts({ unknownPrices: unknown.reduce((sum, count) => sum + count, 0) }),
  });
}

const contractStates = ['running', 'starts later', 'ended'];

function contractItemsOf({ ask }: Tenant, { id }: Company, shown: number): Reported {
  const all = ask(contractsSql);
  const place = ({ state }: SqlRow) => contractStates.indexOf(String(state));
  const its = all
    .filter(({ companyId }) => companyId === id)
    .sort((one, other) => place(one) - place(other) || byName(served(one), served(other)));
  const withoutCompany = all.filter(({ companyId }) => companyId === null).length;
  const byState = grouped(its, ({ state, currency }) => `${state} ${currency}`);
  return {
    byState: [...byState.values()].map(contractTotals).sort(byStateThenCurrency),
    ...counts({ withoutCompany }),
    ...listed(
      its.map(({ id, starts, ends, state }) =>
        only({ id, state, starts: starts ?? undefined, ends: ends ?? undefined }),
      ),
      shown,
    ),
  };
}

function contractTotals(rows: readonly SqlRow[]): Reported {
  const [{ state, currency } = { state: '', currency: '' }] = rows;
  return only({
    state,
    currency,
    count: rows.length,
    revenue: sumsByTerm(rows, 'revenue'),
    profit: sumsByTerm(rows, 'profit'),
    ...counts({
      unknownRevenue: rows.filter((row) => !numberIn(row, 'revenue')).length,
      withoutEnd: rows.filter(({ ends }) => ends === null).length,
    }),
  });
}

const byStateThenCurrency = (one: Reported, other: Reported): number =>
  contractStates.indexOf(String(one.state)) - contractStates.indexOf(String(other.state)) ||
  compare(String(one.currency), String(other.currency));

const served = (row: SqlRow) => ({ id: String(row.id), name: text(row, 'service') });

function sumsByTerm(rows: readonly SqlRow[], column: string): Reported | undefined {
  const sums = [...grouped(rows, ({ spoken }) => String(spoken))].flatMap(([name, its]) => {
    const sum = sumOf(its.map((row) => numberIn(row, column)));
    return sum ? [[name, rounded(sum)] as const] : [];
  });
  const usual = sums.filter(([name]) => defaultTerms.includes(name));
  const others = sums.filter(([name]) => !defaultTerms.includes(name));
  return sums.length === 0
    ? undefined
    : only({
        ...Object.fromEntries(usual.map(([name, sum]) => [name.replace('-t', 'T'), sum])),
        otherTerms: others.length === 0 ? undefined : Object.fromEntries(others),
      });
}

const byApplicability = (rows: readonly SqlRow[]): SqlRow[] =>
  [...rows].sort(
    (one, other) =>
      nearness.indexOf(String(one.appliesTo)) - nearness.indexOf(String(other.appliesTo)) ||
      byName(
        { id: String(one.id), name: text(one, 'name') },
        { id: String(other.id), name: text(other, 'name') },
      ),
  );

function groupsOf({ ask }: Tenant, { id }: Company, shown: number): Reported {
  const rows = ask(
    `${given} select b.id, b.name, json_array_length(coalesce(b.discounts, '[]')) as discounts,
        ${appliesTo('c.id', 'c.classificationId')} as appliesTo
      from it join company c using (tenant) join discount_group b using (tenant)
      where c.id = ?3`,
    id,
  );
  const its = byApplicability(
    rows.filter(({ appliesTo }) => appliesTo !== null && appliesTo !== 'everyone'),
  );
  return listed(
    its.map(({ id, appliesTo, discounts }) => ({ id, appliesTo, discounts })),
    shown,
  );
}

function booksOfCompany({ ask }: Tenant, { id }: Company, shown: number): Reported {
  const rows = ask(
    `${given} select b.id, b.name, ${appliesTo('c.id', 'c.classificationId')} as appliesTo,
        (select count(*) from pricing_book_product e
          where e.tenant = b.tenant and e.pricingBookId = b.id) as products
      from it join company c using (tenant) join pricing_book b using (tenant)
      where c.id = ?3 and ${bookHolds('b', 'today')}`,
    id,
  );
  const its = byApplicability(rows.filter(({ appliesTo }) => appliesTo !== null));
  return listed(
    its.map(({ id, appliesTo, products }) => ({ id, appliesTo, products })),
    shown,
  );
}
