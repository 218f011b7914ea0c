/**
 * A question of a sales team about the embedded tenant, with its truth in SQL. The SQL is written from common sense
 * and reads the tenant's tables; it never uses what the tools answer.
 */
export interface Question {
  id: string;
  /** `{column}` is replaced by a column of the first row of `about`. */
  ask: string;
  /** Selects the record that the question is about. Its columns are parameters of `truth` and `after`, as `:column`. */
  about?: string;
  /** What is true. Every expectation about a column must hold for every row. */
  truth?: string;
  expect: Expectation[];
  /** A form to fill in, in place of `truth`: the question asks for a line each, and each is right or wrong by itself. */
  form?: Field[];
  /** What a right answer must not contain. */
  forbid?: Expectation[];
  /** The person's answer to a request to agree to a change; without it no change is accepted. */
  person?: 'accept' | 'decline';
  /** Read from the tenant after the question was played; each column must be 1. */
  after?: string;
}

/** A line of a form. `count`, `amount`, `percent` (0–100) and `days` are numbers. */
export interface Field {
  label: string;
  as: 'count' | 'amount' | 'percent' | 'days' | 'name' | 'day';
  /** Selects one value. */
  truth: string;
}

/**
 * `figure`: a number, in full or rounded to three or more significant digits. `name`: a text, without regard to case,
 * accents and punctuation. `day`: a date in any usual spelling. `words`: a pattern that the answer must match.
 */
export type Expectation =
  | { figure: string }
  | { name: string }
  | { day: string }
  | { words: RegExp };

/**
 * What every query may select from, besides the tables: `deals` and `offers` are opportunities and quotes that were
 * not deleted, with what a salesperson would call their value; `lines` are the items of quotes.
 */
export const definitions = `
with deals as (
  select o.*, s.name as stage, w.name as owner, c.name as company, k.name as category, r.name as source,
    upper(trim(c.currency)) as currency,
    case when o.onetimeRevenue is null and o.monthlyRevenue is null then null
      else coalesce(cast(o.onetimeRevenue as real), 0) + coalesce(cast(o.monthlyRevenue as real), 0)
        * iif(cast(o.valueMonths as real) > 0, cast(o.valueMonths as real), 12) end as value,
    substr(o.createdAt, 1, 10) as created, substr(o.closedAt, 1, 10) as closed,
    substr(o.expectedCloseDate, 1, 10) as closes,
    max(coalesce(substr(o.stageUpdatedAt, 1, 10), ''), coalesce(substr(o.updatedAt, 1, 10), '')) as changed
  from opportunity o
  left join pipeline_stage s on s.tenant = o.tenant and s.id = o.pipelineStageId
  left join owner w on w.tenant = o.tenant and w.id = o.ownerId
  left join company c on c.tenant = o.tenant and c.id = o.companyId
  left join opportunity_category k on k.tenant = o.tenant and k.id = o.categoryId
  left join source r on r.tenant = o.tenant and r.id = o.sourceId
  where coalesce(o.deletedAt, '') = ''
), lines as (
  select i.*, case
      when lower(trim(coalesce(i.term, ''))) in ('month', 'monthly') then 'monthly'
      when lower(trim(coalesce(i.term, ''))) in ('year', 'yearly', 'annual') then 'yearly'
      else 'one-time' end as billed,
    coalesce(cast(i.quantity as real), 1) * cast(i.price as real)
      * (1 - coalesce(cast(i.discount as real), 0) / 100) as total
  from quote_item i
), sums as (
  select quoteId,
    sum(iif(billed = 'one-time', coalesce(total, 0), 0)) + sum(coalesce(cast(setupPrice as real), 0)) as oneTime,
    sum(iif(billed = 'monthly', coalesce(total, 0), 0)) as monthly,
    sum(iif(billed = 'yearly', coalesce(total, 0), 0)) as yearly,
    count(*) as items, sum(iif(total is null, 1, 0)) as unpriced
  from lines group by quoteId
), offers as (
  select q.*, lower(trim(q.status)) as statusCategory, w.name as owner, c.name as company,
    upper(trim(c.currency)) as currency, d.name as deal, d.outcome as dealOutcome,
    substr(q.sentAt, 1, 10) as sent, substr(q.approvedAt, 1, 10) as approved, substr(q.expiresAt, 1, 10) as expires,
    coalesce(s.items, 0) as items, coalesce(s.unpriced, 0) as unpriced,
    part * s.oneTime - fixed as oneTime, part * s.monthly as monthly, part * s.yearly as yearly,
    part * (s.oneTime + 12 * s.monthly + s.yearly) - fixed as firstYear
  from (select *,
      iif(discountType like 'perc%' or discountType = '%', 1 - coalesce(cast(discountAmount as real), 0) / 100, 1) as part,
      iif(discountType in ('amount', 'fixed', 'absolute'), coalesce(cast(discountAmount as real), 0), 0) as fixed
    from quote) q
  left join sums s on s.quoteId = q.id
  left join owner w on w.tenant = q.tenant and w.id = q.ownerId
  left join company c on c.tenant = q.tenant and c.id = q.companyId
  left join deals d on d.tenant = q.tenant and d.id = q.opportunityId
  where coalesce(q.deletedAt, '') = ''
)
`;
