import type { Big } from 'big.js';
import { known, numberIn } from './decimal.ts';
import {
  type Ask,
  currency,
  day,
  daysFrom,
  given,
  outcome,
  type SqlRow,
  text,
  textsIn,
} from './sql.ts';

export interface Ref {
  id?: string | undefined;
  name?: string | undefined;
}

/** `lastChange`: the later of that of the stage and of any field, else when it was created. */
const dealTexts = [
  'name',
  'ask',
  'created',
  'stageUpdated',
  'lastChange',
  'closes',
  'closed',
] as const;
/** Columns of what a deal refers to: `stageId` and `stageName`. */
const dealRefs = ['stage', 'owner', 'company', 'category', 'source'] as const;

export interface Deal
  extends Record<(typeof dealTexts)[number], string | undefined>,
    Record<(typeof dealRefs)[number], Ref> {
  id: string;
  outcome: string;
  currency: string;
  oneTime: Big | undefined;
  monthly: Big | undefined;
  /** As 0–1. */
  probability: Big | undefined;
  hasMonths: boolean;
  value: Big | undefined;
  /** Profit over the whole contract. */
  profit: Big | undefined;
  /** Days from creation to closing. */
  daysToClose: number | undefined;
  daysOld: number;
  daysInStage: number;
  idleDays: number;
  daysUntilClose: number;
}

const created = day('o.createdAt');
const stageUpdated = day('o.stageUpdatedAt');
const updated = day('o.updatedAt');
// The later of two times. SQLite's max() is NULL if one of them is.
const lastChange = `coalesce(
  max(coalesce(${stageUpdated}, ${updated}), coalesce(${updated}, ${stageUpdated})), ${created})`;
const closes = day('o.expectedCloseDate');
const closed = day('o.closedAt');

const dealsSql = `${given}
  select o.id, o.name, ${outcome} as outcome, ${currency('c.currency')} as currency,
    o.onetimeRevenue, o.monthlyRevenue, o.valueMonths, o.probability, o.description as ask,
    o.oneTimeProfit, o.monthlyProfit,
    ${created} as created, max(0, ${daysFrom(created, 'today')}) as daysOld,
    ${stageUpdated} as stageUpdated, max(0, ${daysFrom(stageUpdated, 'today')}) as daysInStage,
    ${lastChange} as lastChange, max(0, ${daysFrom(lastChange, 'today')}) as idleDays,
    ${closes} as closes, ${daysFrom('today', closes)} as daysUntilClose, ${closed} as closed,
    max(0, ${daysFrom(created, closed)}) as daysOpen,
    o.pipelineStageId as stageId, s.name as stageName, o.ownerId, w.name as ownerName,
    o.companyId, c.name as companyName, o.categoryId, k.name as categoryName,
    o.sourceId, f.name as sourceName
  from it join opportunity o using (tenant)
  left join company c on c.tenant = o.tenant and c.id = o.companyId
  left join pipeline_stage s on s.tenant = o.tenant and s.id = o.pipelineStageId
  left join owner w on w.tenant = o.tenant and w.id = o.ownerId
  left join opportunity_category k on k.tenant = o.tenant and k.id = o.categoryId
  left join source f on f.tenant = o.tenant and f.id = o.sourceId`;

/** Every opportunity of the tenant. */
export function dealsOf(ask: Ask): Deal[] {
  const rows = ask(dealsSql);
  const top = rows.some((row) => numberIn(row, 'probability')?.gt(1)) ? 100 : 1;
  return rows.map((row) => dealOf(row, top));
}

/** The known part of a one-time amount and a monthly amount over a number of months. */
function overTerm(once: Big | undefined, monthly: Big | undefined, months?: Big): Big | undefined {
  const over = months && monthly?.times(months);
  return once && over ? once.plus(over) : (once ?? over);
}

function dealOf(row: SqlRow, top: number): Deal {
  const oneTime = numberIn(row, 'onetimeRevenue');
  const monthly = numberIn(row, 'monthlyRevenue');
  const given = numberIn(row, 'valueMonths');
  const months = given?.gt(0) ? given : known(12);
  const probability = numberIn(row, 'probability')?.div(top);
  const refs = dealRefs.map((what): [string, Ref] => [
    what,
    { id: text(row, `${what}Id`), name: text(row, `${what}Name`) },
  ]);
  return {
    ...textsIn(row, dealTexts),
    ...(Object.fromEntries(refs) as Pick<Deal, (typeof dealRefs)[number]>),
    id: String(row.id),
    outcome: String(row.outcome),
    currency: String(row.currency),
    oneTime,
    monthly,
    probability: probability?.gte(0) && probability.lte(1) ? probability : undefined,
    hasMonths: given?.gt(0) ?? false,
    value: overTerm(oneTime, monthly, months),
    daysOld: Number(row.daysOld),
    daysInStage: Number(row.daysInStage),
    idleDays: Number(row.idleDays),
    daysUntilClose: Number(row.daysUntilClose),
    profit: overTerm(numberIn(row, 'oneTimeProfit'), numberIn(row, 'monthlyProfit'), months),
    daysToClose: row.daysOpen === null ? undefined : Number(row.daysOpen),
  };
}
