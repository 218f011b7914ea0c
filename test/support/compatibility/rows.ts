import type { Row as AnswerRow, Row } from '../hosts.ts';
import type { ListPath, Named, Opportunity, Quote } from './stored-data.ts';
import { quoteTotals } from './truth.ts';

/** Whether a row of an answer is about this record, by its id or name. */
const names = (row: AnswerRow, { id, name }: Named): boolean =>
  Object.values(row).some((value) => value === String(id) || value === name);

const isMarked = (mark: unknown): boolean => Boolean(mark) && mark !== 'false';

const outcome = ({ closedAt, deletedAt, statusId }: Opportunity): string | undefined => {
  if (deletedAt || !closedAt) return undefined;
  return ['won', 'lost'].includes(statusId) ? statusId : 'closed_unknown';
};

/** The values that a row must contain, by field. */
const values: Partial<Record<ListPath, (record: Row) => Row>> = {
  '/company': ({ name, currency, externalIdentifier }) => ({ name, currency, externalIdentifier }),
  '/contact': ({ firstName, lastName, email }) => ({ name: `${firstName} ${lastName}`, email }),
  '/opportunity': (record) => ({
    name: record.name,
    outcome: outcome(record as unknown as Opportunity),
    oneTime: record.onetimeRevenue,
    monthly: record.monthlyRevenue,
    closes: record.closedAt ? undefined : record.expectedCloseDate,
    closed: record.closedAt ? String(record.closedAt).slice(0, 10) : undefined,
  }),
  '/product': ({ name, mpn, price, cost, listed }) => ({
    name,
    mpn,
    price,
    cost,
    listed: listed === false ? false : undefined,
  }),
  '/quote': ({ number, title, status, expiresAt }) => ({
    number,
    title,
    status,
    expires: String(expiresAt).slice(0, 10),
  }),
  '/contract/items': ({ service, revenue, quantity }) => ({ service, revenue, quantity }),
};

const references: Partial<Record<ListPath, (record: Row) => unknown[]>> = {
  '/contact': ({ companyId, companyName }) => [{ id: companyId, name: companyName }],
  '/opportunity': ({ company, pipelineStage, owner }) => [company, pipelineStage, owner],
  '/product': ({ category }) => [category],
  '/quote': ({ company, opportunity, owner }) => [company, opportunity, owner],
};

/** Totals may be missing where items are, but must not be 0. */
function wrongTotal(row: AnswerRow, record: Row): string | undefined {
  const totals = quoteTotals(record as unknown as Quote);
  return Object.entries(totals)
    .filter(([name, value]) => row[name] !== undefined && row[name] !== value)
    .map(([name, value]) => `${name} ${row[name]} instead of ${value}`)[0];
}

/** The first difference between a row of an answer and its record. */
export function rowProblem(path: ListPath, row: AnswerRow, record: Row): string | undefined {
  const expected = values[path]?.(record) ?? { name: record.name };
  const differing = Object.entries(expected).find(([name, value]) => row[name] !== value);
  if (differing) return `${differing[0]} ${row[differing[0]]} instead of ${differing[1]}`;
  const unnamed = references[path]?.(record).find((it) => it && !names(row, it as Named));
  if (unnamed) return `does not name ${(unnamed as Named).name}`;
  const deleted = isMarked(record.deletedAt ?? record.deleted);
  if (deleted !== isMarked(row.deleted)) return 'deleted is told wrong';
  return path === '/quote' ? wrongTotal(row, record) : undefined;
}
