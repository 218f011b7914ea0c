import type { Question } from '../question.ts';

const open = "from deals where outcome = 'open'";
const wonSince = "from deals where outcome = 'won' and closed between '2026-01-01' and :today";
const pickOwner = `select owner ${open} and owner is not null and instr(owner, '''') = 0
  group by owner order by count(*) desc, owner limit 1`;

/** Asked by salespeople and their managers about open and closed deals. */
export const pipelineQuestions: Question[] = [
  {
    id: 'open-total',
    ask: 'How many open deals do we have, and what are those in US dollars worth in total over their contract terms?',
    truth: `select (select count(*) ${open}) as deals, sum(value) as total ${open} and currency = 'USD'`,
    expect: [{ figure: 'deals' }, { figure: 'total' }],
  },
  {
    id: 'weighted',
    ask: 'What is the weighted one-time revenue of the open pipeline in US dollars?',
    truth: `select sum(cast(onetimeRevenue as real) * probability) as weighted ${open} and currency = 'USD'`,
    expect: [{ figure: 'weighted' }],
  },
  {
    id: 'by-stage',
    ask: 'How many open deals are in each stage?',
    truth: `select stage, count(*) as deals ${open} and stage is not null group by stage`,
    expect: [{ name: 'stage' }, { figure: 'deals' }],
  },
  {
    id: 'by-owner',
    ask: 'How many open deals does each of our salespeople have? Name all of them.',
    truth: `select owner, count(*) as deals ${open} and owner is not null group by owner`,
    expect: [{ name: 'owner' }, { figure: 'deals' }],
  },
  {
    id: 'best-owner',
    ask: 'Whose open pipeline is worth the most in US dollars, by total contract value, and how much is it?',
    truth: `select owner, sum(value) as total ${open} and currency = 'USD' and owner is not null
      group by owner order by 2 desc limit 1`,
    expect: [{ name: 'owner' }, { figure: 'total' }],
  },
  {
    id: 'owner-without-apostrophe',
    ask: 'How many open deals has lucy oconnor got?',
    truth: `select count(*) as deals ${open} and owner = 'Lucy O''Connor'`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'owner-first-name',
    ask: 'How many open deals does Lucy have?',
    expect: [{ words: /O.?Connor/i }, { words: /Castellano/i }],
  },
  {
    id: 'overdue',
    ask: 'How many of our open deals are past their expected close date?',
    truth: `select count(*) as deals ${open} and closes < :today`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'largest',
    ask: 'Name our three largest open deals in US dollars by total contract value, with customer and value.',
    truth: `select name, company, value ${open} and currency = 'USD' order by value desc limit 3`,
    expect: [{ name: 'name' }, { name: 'company' }, { figure: 'value' }],
  },
  {
    id: 'closing-soon',
    ask: 'How many open deals should close within the next 30 days?',
    truth: `select count(*) as deals ${open} and closes between :today and date(:today, '+30 days')`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'closing-july',
    ask: 'How many open deals are expected to close in July 2026?',
    truth: `select count(*) as deals ${open} and closes between '2026-07-01' and '2026-07-31'`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'won-this-year',
    ask: 'How many deals have we won since 1 January 2026, and what is their total contract value in US dollars?',
    truth: `select (select count(*) ${wonSince}) as deals, sum(value) as total ${wonSince} and currency = 'USD'`,
    expect: [{ figure: 'deals' }, { figure: 'total' }],
  },
  {
    id: 'win-rate',
    ask: 'What was our win rate by number of deals from 1 January 2026 until today?',
    truth: `select 100.0 * sum(outcome = 'won') / count(*) as rate
      from deals where outcome in ('won', 'lost') and closed between '2026-01-01' and :today`,
    expect: [{ figure: 'rate' }],
  },
  {
    id: 'won-by-owner',
    ask: 'Since 1 January 2026, how many deals has each salesperson won?',
    truth: `select owner, count(*) as deals ${wonSince} and owner is not null group by owner`,
    expect: [{ name: 'owner' }, { figure: 'deals' }],
  },
  {
    id: 'won-by-source',
    ask: 'Which source brought us the most won deals since 1 January 2026, and how many?',
    truth: `select source, count(*) as deals ${wonSince} and source is not null group by source
      having count(*) = (select max(n) from (select count(*) as n ${wonSince} and source is not null group by source))`,
    expect: [{ name: 'source' }, { figure: 'deals' }],
  },
  {
    id: 'won-list',
    ask: 'Which deals did we win in the last 30 days? List them by name.',
    truth: `select name from deals where outcome = 'won' and closed between date(:today, '-30 days') and :today`,
    expect: [{ name: 'name' }],
  },
  {
    id: 'days-to-close',
    ask: 'On average, how many days did the deals that we won since 1 January 2026 take from creation to close?',
    truth: `select round(avg(julianday(closed) - julianday(created))) as days ${wonSince}`,
    expect: [{ figure: 'days' }],
  },
  {
    id: 'stalled',
    ask: 'How many open deals have not changed for 60 days or more?',
    truth: `select count(*) as deals ${open} and changed <> '' and julianday(:today) - julianday(changed) >= 60`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'no-close-date',
    ask: 'How many open deals have no expected close date?',
    truth: `select count(*) as deals ${open} and coalesce(closes, '') = ''`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'owner-and-stage',
    about: pickOwner,
    ask: 'How many open deals does {owner} have in the stage "Proposal out"?',
    truth: `select count(*) as deals ${open} and owner = :owner and stage = 'Proposal out'`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'category',
    ask: 'How many open deals are in the category Security, and what are those in US dollars worth in total contract value?',
    truth: `select (select count(*) ${open} and category = 'Security') as deals, sum(value) as total
      ${open} and category = 'Security' and currency = 'USD'`,
    expect: [{ figure: 'deals' }, { figure: 'total' }],
  },
  {
    id: 'oldest',
    ask: 'Which open deal was created first, and on which day?',
    truth: `select name, created ${open}
      order by (select o.createdAt from opportunity o where o.id = deals.id) limit 1`,
    expect: [{ name: 'name' }, { day: 'created' }],
  },
  {
    id: 'customer-asks',
    about: pickOwner,
    ask: 'What do the customers of the three largest open US-dollar deals of {owner} want? Name the deal and the gist of the request.',
    truth: `select name, company ${open} and owner = :owner and currency = 'USD' order by value desc limit 3`,
    expect: [{ name: 'name' }],
  },
  {
    id: 'best-month',
    ask: 'Which month from July 2026 on has the most open US-dollar deals by total contract value expected to close, and how much?',
    truth: `select sum(value) as total, substr(closes, 1, 7) || '-01' as month ${open} and currency = 'USD'
      and closes >= '2026-07-01' group by substr(closes, 1, 7) order by 1 desc limit 1`,
    expect: [{ figure: 'total' }],
  },
  {
    id: 'won-in-may',
    ask: 'How many deals did we win in May 2026, and what is their total contract value in US dollars?',
    truth: `select (select count(*) from deals where outcome = 'won' and closed like '2026-05-%') as deals, sum(value) as total
      from deals where outcome = 'won' and closed like '2026-05-%' and currency = 'USD'`,
    expect: [{ figure: 'deals' }, { figure: 'total' }],
  },
  {
    id: 'created-in-may',
    ask: 'How many of the deals that we have now were created in May 2026? Leave out deleted ones.',
    truth: `select count(*) as deals from deals where created like '2026-05-%'`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'likely-deals',
    ask: 'How many open deals have a probability of 80 percent or more?',
    truth: `select count(*) as deals ${open} and probability >= 0.8`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'deals-without-quote',
    ask: 'How many of our open deals has nobody made a quote for yet, and how many of those are in the stage "Discovery"?',
    truth: `select count(*) as deals, sum(d.stage = 'Discovery') as discovery from deals d where d.outcome = 'open'
      and not exists (select 1 from offers q where q.opportunityId = d.id)`,
    expect: [{ figure: 'deals' }, { figure: 'discovery' }],
  },
];
