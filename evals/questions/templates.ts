import type { Field, Question } from '../question.ts';

const usd = "from deals where currency = 'USD'";
const open = `${usd} and outcome = 'open'`;
const quarter = "closed between '2026-04-01' and :today";
const lastQuarter = "closed between '2026-01-01' and '2026-03-31'";
const restOfQuarter = "closes between :today and '2026-06-30'";
const nextQuarter = "closes between '2026-07-01' and '2026-09-30'";
const probability = 'cast(probability as real)';

const count = (label: string, from: string): Field => ({
  label: `${label}: number`,
  as: 'count',
  truth: `select count(*) ${from}`,
});
const value = (label: string, from: string): Field => ({
  label: `${label}: total contract value`,
  as: 'amount',
  truth: `select sum(value) ${from}`,
});
const weighted = (label: string, from: string): Field => ({
  label: `${label}: weighted total contract value`,
  as: 'amount',
  truth: `select sum(value * ${probability}) ${from}`,
});
/** Number and value of the same deals. */
const both = (label: string, from: string): Field[] => [count(label, from), value(label, from)];
const all = (label: string, from: string): Field[] => [...both(label, from), weighted(label, from)];
const first = (label: string, as: Field['as'], column: string, from: string): Field => ({
  label,
  as,
  truth: `select ${column} ${from} limit 1`,
});

const forecast: Question = {
  id: 'template-forecast',
  ask: 'Fill in the forecast of the second quarter of 2026 (1 April to 30 June). All figures are of US-dollar deals only. Commit are open deals with a probability of 75 percent or more, best case from 50 percent, pipeline below that; deals without a probability are in none.',
  expect: [],
  form: [
    ...both('Won this quarter so far', `${usd} and outcome = 'won' and ${quarter}`),
    ...both('Lost this quarter so far', `${usd} and outcome = 'lost' and ${quarter}`),
    ...both('Won last quarter', `${usd} and outcome = 'won' and ${lastQuarter}`),
    ...both('Lost last quarter', `${usd} and outcome = 'lost' and ${lastQuarter}`),
    {
      label: 'Win rate this quarter by number, in percent',
      as: 'percent',
      truth: `select 100.0 * sum(outcome = 'won') / count(*) ${usd} and outcome in ('won', 'lost') and ${quarter}`,
    },
    {
      label: 'Win rate this quarter by value, in percent',
      as: 'percent',
      truth: `select 100.0 * sum(iif(outcome = 'won', value, 0)) / sum(value) ${usd} and outcome in ('won', 'lost') and ${quarter}`,
    },
    {
      label: 'Win rate last quarter by number, in percent',
      as: 'percent',
      truth: `select 100.0 * sum(outcome = 'won') / count(*) ${usd} and outcome in ('won', 'lost') and ${lastQuarter}`,
    },
    ...all('Open, due from today to the end of the quarter', `${open} and ${restOfQuarter}`),
    ...all('Open and overdue', `${open} and closes < :today`),
    ...all('Open, due in the third quarter', `${open} and ${nextQuarter}`),
    ...all('Commit, whatever the close date', `${open} and ${probability} >= 0.75`),
    ...both(
      'Best case, whatever the close date',
      `${open} and ${probability} >= 0.5 and ${probability} < 0.75`,
    ),
    ...both('Pipeline, whatever the close date', `${open} and ${probability} < 0.5`),
    {
      label: 'Still to be won for a target of 600,000 this quarter',
      as: 'amount',
      truth: `select 600000 - sum(value) ${usd} and outcome = 'won' and ${quarter}`,
    },
    {
      label: 'Average total contract value of a deal won this quarter',
      as: 'amount',
      truth: `select avg(value) ${usd} and outcome = 'won' and ${quarter}`,
    },
    {
      label: 'Mean days from creation to close of the deals won this quarter',
      as: 'days',
      truth: `select avg(julianday(closed) - julianday(created)) ${usd} and outcome = 'won' and ${quarter}`,
    },
    first(
      'Salesperson with the highest value won this quarter',
      'name',
      'owner',
      `${usd} and outcome = 'won' and ${quarter} group by owner order by sum(value) desc`,
    ),
    first(
      'Total contract value that this person won',
      'amount',
      'sum(value)',
      `${usd} and outcome = 'won' and ${quarter} group by owner order by sum(value) desc`,
    ),
    first(
      'Largest open deal due from today to the end of the quarter: its name',
      'name',
      'name',
      `${open} and ${restOfQuarter} order by value desc`,
    ),
    first(
      'Its total contract value',
      'amount',
      'value',
      `${open} and ${restOfQuarter} order by value desc`,
    ),
  ],
};

const stages = ['New enquiry', 'Discovery', 'Solution design', 'Proposal out', 'Verbal yes'];

const review: Question = {
  id: 'template-pipeline-review',
  ask: 'Fill in the review of the open pipeline of today. All figures are of US-dollar deals that are open, unless a line says otherwise.',
  expect: [],
  form: [
    ...all('All open deals', open),
    {
      label: 'All open deals: one-time revenue',
      as: 'amount',
      truth: `select sum(cast(onetimeRevenue as real)) ${open}`,
    },
    {
      label: 'All open deals: monthly revenue',
      as: 'amount',
      truth: `select sum(cast(monthlyRevenue as real)) ${open}`,
    },
    ...stages.flatMap((stage) => both(`In the stage ${stage}`, `${open} and stage = '${stage}'`)),
    ...['Omar Okafor', "Lucy O'Connor", 'Peter Kowalski'].flatMap((owner) =>
      both(`Of ${owner}`, `${open} and owner = '${owner.replace("'", "''")}'`),
    ),
    ...both('Overdue', `${open} and closes < :today`),
    ...both(
      'Closing within 30 days',
      `${open} and closes between :today and date(:today, '+30 days')`,
    ),
    ...both(
      'Not changed for 30 days or more',
      `${open} and changed <> '' and julianday(:today) - julianday(changed) >= 30`,
    ),
    ...both('Without an expected close date', `${open} and coalesce(closes, '') = ''`),
    ...both('In the category Security', `${open} and category = 'Security'`),
    first('Largest open deal: its name', 'name', 'name', `${open} order by value desc`),
    first('Its total contract value', 'amount', 'value', `${open} order by value desc`),
    first('Its salesperson', 'name', 'owner', `${open} order by value desc`),
  ],
};

const deal = 'from deals where companyId = :id';
const openDeal = `${deal} and outcome = 'open'`;
const offer = 'from offers where companyId = :id';
const contract = "from contract_item where companyId = :id and coalesce(deletedAt, '') = ''";
const runs =
  "coalesce(substr(startDate, 1, 10), '') <= :today and coalesce(substr(endDate, 1, 10), '9') >= :today";

const account: Question = {
  id: 'template-account',
  about: `select c.id, c.name as company from company c
    where c.name in (select name from company group by name having count(*) = 1) and coalesce(c.deleted, '') = '' and c.currency = 'USD'
      and c.accountManagerId in (select id from owner) and c.telephone is not null
      and (select count(distinct value) from deals where companyId = c.id and outcome = 'open') > 1
      and (select count(distinct outcome) from deals where companyId = c.id) = 3
      and (select count(distinct statusCategory) from offers where companyId = c.id) >= 3
      and exists (select 1 from contract_item i where i.companyId = c.id and i.endDate > :today and i.term = 'month')
    order by (select count(*) from offers where companyId = c.id) desc, c.id limit 1`,
  ask: 'Fill in the account plan of {company}. Amounts are in US dollars.',
  expect: [],
  form: [
    first('City', 'name', "json_extract(address, '$.city')", 'from company where id = :id'),
    first(
      'Account manager',
      'name',
      'owner.name',
      'from company join owner on owner.id = company.accountManagerId where company.id = :id',
    ),
    first(
      'Last four digits of the phone number',
      'name',
      'substr(telephone, -4)',
      'from company where id = :id',
    ),
    count(
      'Contacts (not deleted)',
      "from contact where companyId = :id and coalesce(deleted, '') = ''",
    ),
    ...all('Open deals', openDeal),
    {
      label: 'Open deals: one-time revenue',
      as: 'amount',
      truth: `select sum(cast(onetimeRevenue as real)) ${openDeal}`,
    },
    {
      label: 'Open deals: monthly revenue',
      as: 'amount',
      truth: `select sum(cast(monthlyRevenue as real)) ${openDeal}`,
    },
    count('Overdue open deals', `${openDeal} and closes < :today`),
    first('Largest open deal: its name', 'name', 'name', `${openDeal} order by value desc`),
    first('Its total contract value', 'amount', 'value', `${openDeal} order by value desc`),
    first('Its stage', 'name', 'stage', `${openDeal} order by value desc`),
    first('Its expected close date', 'day', 'closes', `${openDeal} order by value desc`),
    ...both('Deals won so far', `${deal} and outcome = 'won'`),
    ...both('Deals lost so far', `${deal} and outcome = 'lost'`),
    {
      label: 'Win rate so far by number, in percent',
      as: 'percent',
      truth: `select 100.0 * sum(outcome = 'won') / count(*) ${deal} and outcome in ('won', 'lost')`,
    },
    count('Quotes, whatever the status', offer),
    count('Quotes in draft', `${offer} and statusCategory = 'draft'`),
    count('Quotes approved', `${offer} and statusCategory = 'approved'`),
    {
      label: 'Quotes approved: first-year value',
      as: 'amount',
      truth: `select sum(firstYear) ${offer} and statusCategory = 'approved'`,
    },
    count('Quotes declined', `${offer} and statusCategory = 'declined'`),
    count(
      'Quotes sent and still open to acceptance',
      `${offer} and statusCategory = 'sent' and (expires is null or expires >= :today)`,
    ),
    first(
      'Number of the quote that was sent last',
      'name',
      'number',
      `${offer} and sent is not null order by sent desc`,
    ),
    first(
      'Day on which it was sent',
      'day',
      'sent',
      `${offer} and sent is not null order by sent desc`,
    ),
    count('Contract items running today', `${contract} and ${runs}`),
    {
      label: 'Monthly revenue of the running contract items with a monthly term, as given',
      as: 'amount',
      truth: `select sum(cast(revenue as real)) ${contract} and term = 'month' and ${runs}`,
    },
    first(
      'Next day on which a contract item ends',
      'day',
      'min(substr(endDate, 1, 10))',
      `${contract} and substr(endDate, 1, 10) >= :today`,
    ),
    count(
      'Discount groups assigned to the company by name',
      `from discount_group, json_each(companyIds) e where e.value = :id`,
    ),
  ],
};

const subject = 'from deals where id = :id';
const caller = 'from contact where id = :contact';
const quoted = 'from offers where id = :quote';

const call: Question = {
  id: 'template-call',
  about: `select d.id, d.companyId as company, d.contactId as contact, d.externalIdentifier as external, q.id as quote, q.number
    from deals d join offers q on q.opportunityId = d.id join contact p on p.id = d.contactId
    where d.outcome = 'open' and d.currency = 'USD' and d.externalIdentifier is not null and d.companyId is not null and d.closes is not null
      and d.valueMonths > 0 and d.description <> '' and d.categoryId is not null and p.email is not null and p.companyId = d.companyId
      and coalesce(p.phone, p.mobilePhone) is not null and p.jobTitle is not null and coalesce(p.deleted, '') = ''
      and q.statusCategory = 'sent' and q.expires is not null and q.monthly > 0 and q.oneTime > 0 and q.unpriced = 0
      and (select count(*) from offers o where o.opportunityId = d.id) = 1
      and not exists (select 1 from lines l where l.quoteId = q.id and (l.cost is null or l.quantity is null))
    order by d.id limit 1`,
  ask: 'I am about to call the contact of the deal {external} about its quote {number}. Fill in the call sheet. Amounts are in US dollars; amounts of the quote are after its discounts.',
  expect: [],
  form: [
    first('Contact: last name', 'name', 'lastName', caller),
    first('Contact: job title', 'name', 'jobTitle', caller),
    first('Contact: e-mail address', 'name', 'email', caller),
    first('Company', 'name', 'company', subject),
    first(
      'City of the company',
      'name',
      "json_extract(address, '$.city')",
      'from company where id = :company',
    ),
    first('Deal: its name', 'name', 'name', subject),
    first('Deal: stage', 'name', 'stage', subject),
    first('Deal: category', 'name', 'category', subject),
    first('Deal: salesperson', 'name', 'owner', subject),
    first('Deal: probability in percent', 'percent', `100 * ${probability}`, subject),
    first('Deal: one-time revenue', 'amount', 'cast(onetimeRevenue as real)', subject),
    first('Deal: monthly revenue', 'amount', 'cast(monthlyRevenue as real)', subject),
    first('Deal: contract term in months', 'count', 'cast(valueMonths as real)', subject),
    first('Deal: total contract value', 'amount', 'value', subject),
    first('Deal: weighted total contract value', 'amount', `value * ${probability}`, subject),
    first('Deal: created on', 'day', 'created', subject),
    first('Deal: expected close date', 'day', 'closes', subject),
    first(
      'Deal: days since its stage was changed',
      'days',
      'julianday(:today) - julianday(substr(stageUpdatedAt, 1, 10))',
      subject,
    ),
    first('Quote: sent on', 'day', 'sent', quoted),
    first('Quote: valid until', 'day', 'expires', quoted),
    first(
      'Quote: days from today until it expires (negative when past)',
      'days',
      'julianday(expires) - julianday(:today)',
      quoted,
    ),
    first('Quote: number of items', 'count', 'items', quoted),
    first('Quote: one-time total', 'amount', 'oneTime', quoted),
    first('Quote: total per month', 'amount', 'monthly', quoted),
    first('Quote: first-year value', 'amount', 'firstYear', quoted),
    first(
      'Quote: payment term',
      'name',
      'payment_term.name',
      'from quote join payment_term on payment_term.id = quote.paymentTermId where quote.id = :quote',
    ),
    {
      label: 'Quote: margin of the monthly items, in percent',
      as: 'percent',
      truth: `select 100 * (sum(total) - sum(cast(quantity as real) * cast(cost as real))) / sum(total)
      from lines where quoteId = :quote and billed = 'monthly'`,
    },
    count(
      'Other open deals of the company',
      `from deals where companyId = :company and outcome = 'open' and id <> :id`,
    ),
    count(
      'Deals won with the company so far',
      `from deals where companyId = :company and outcome = 'won'`,
    ),
    count(
      'Quotes of the company that were declined',
      `from offers where companyId = :company and statusCategory = 'declined'`,
    ),
  ],
};

const mine = "owner = 'Omar Okafor'";
const lastWeek = "between date(:today, '-7 days') and :today";
const waiting = `from offers where ${mine} and statusCategory = 'sent'`;
const acceptable = `${waiting} and (expires is null or expires >= :today)`;

const briefing: Question = {
  id: 'template-daily-briefing',
  ask: 'Fill in the daily briefing of Omar Okafor. All lines are about his own deals and quotes, unless they say otherwise; values are of US-dollar deals and quotes only, numbers are of all currencies. "Last 7 days" are 8 June to today.',
  expect: [],
  form: [
    count('Open deals', `from deals where ${mine} and outcome = 'open'`),
    value('Open deals', `${open} and ${mine}`),
    weighted('Open deals', `${open} and ${mine}`),
    count(
      'Overdue open deals',
      `from deals where ${mine} and outcome = 'open' and closes < :today`,
    ),
    value('Overdue open deals', `${open} and ${mine} and closes < :today`),
    count(
      'Open deals closing within 30 days',
      `from deals where ${mine} and outcome = 'open' and closes between :today and date(:today, '+30 days')`,
    ),
    value(
      'Open deals closing within 30 days',
      `${open} and ${mine} and closes between :today and date(:today, '+30 days')`,
    ),
    count(
      'Open deals not changed for 30 days or more',
      `from deals where ${mine} and outcome = 'open' and changed <> '' and julianday(:today) - julianday(changed) >= 30`,
    ),
    count(
      'Open deals in the stage Verbal yes',
      `from deals where ${mine} and outcome = 'open' and stage = 'Verbal yes'`,
    ),
    count(
      'Open deals in the stage Proposal out',
      `from deals where ${mine} and outcome = 'open' and stage = 'Proposal out'`,
    ),
    count(
      'Open deals without any quote',
      `from deals d where ${mine} and outcome = 'open' and not exists (select 1 from offers q where q.opportunityId = d.id)`,
    ),
    first(
      'Next open deal to close, from today on: its name',
      'name',
      'name',
      `from deals where ${mine} and outcome = 'open' and closes >= :today order by closes`,
    ),
    first(
      'Its expected close date',
      'day',
      'closes',
      `from deals where ${mine} and outcome = 'open' and closes >= :today order by closes`,
    ),
    first(
      'Largest open deal (US dollars): its name',
      'name',
      'name',
      `${open} and ${mine} order by value desc`,
    ),
    first('Its total contract value', 'amount', 'value', `${open} and ${mine} order by value desc`),
    count(
      'Deals won in the last 30 days',
      `from deals where ${mine} and outcome = 'won' and closed between date(:today, '-30 days') and :today`,
    ),
    value(
      'Deals won in the last 30 days',
      `${usd} and ${mine} and outcome = 'won' and closed between date(:today, '-30 days') and :today`,
    ),
    count(
      'Deals lost in the last 30 days',
      `from deals where ${mine} and outcome = 'lost' and closed between date(:today, '-30 days') and :today`,
    ),
    value(
      'Deals lost in the last 30 days',
      `${usd} and ${mine} and outcome = 'lost' and closed between date(:today, '-30 days') and :today`,
    ),
    count(
      'Deals created in the last 30 days, whatever became of them',
      `from deals where ${mine} and created between date(:today, '-30 days') and :today`,
    ),
    count('Quotes in draft', `from offers where ${mine} and statusCategory = 'draft'`),
    count('Quotes with status sent', waiting),
    count('Quotes that can still be accepted', acceptable),
    {
      label: 'Quotes that can still be accepted: first-year value',
      as: 'amount',
      truth: `select sum(firstYear) ${acceptable} and currency = 'USD'`,
    },
    count(
      'Quotes with status sent that were sent 14 or more days ago',
      `${waiting} and sent <= date(:today, '-14 days')`,
    ),
    count(
      'Draft or sent quotes that expire within 14 days',
      `from offers where ${mine} and statusCategory in ('draft', 'sent') and expires between :today and date(:today, '+14 days')`,
    ),
    count(
      'Quotes sent in the last 7 days, whatever became of them',
      `from offers where ${mine} and sent ${lastWeek}`,
    ),
    count(
      'Quotes approved in the last 30 days',
      `from offers where ${mine} and statusCategory = 'approved' and approved between date(:today, '-30 days') and :today`,
    ),
    first(
      'Oldest quote that can still be accepted: its number',
      'name',
      'number',
      `${acceptable} and sent is not null order by sent`,
    ),
    first(
      'Day on which it was sent',
      'day',
      'sent',
      `${acceptable} and sent is not null order by sent`,
    ),
    count(
      'Draft or sent quotes of deals that are already won, lost or closed',
      `from offers where ${mine} and statusCategory in ('draft', 'sent') and dealOutcome in ('won', 'lost', 'unknown')`,
    ),
    count(
      'Contract items of the whole team that end within 30 days',
      `from contract_item where substr(endDate, 1, 10) between :today and date(:today, '+30 days') and coalesce(deletedAt, '') = ''`,
    ),
  ],
};

/** What sales teams fill in every day, week and quarter. Each line is scored by itself. */
export const templateQuestions: Question[] = [forecast, review, account, call, briefing];
