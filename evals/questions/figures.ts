import type { Question } from '../question.ts';

const thisYear = "between '2026-01-01' and :today";
const running = `coalesce(deletedAt, '') = '' and coalesce(substr(startDate, 1, 10), '') <= :today
  and coalesce(substr(endDate, 1, 10), '9') >= :today`;

/** Figures that a sales team derives: rates, averages, gaps, days. */
export const figureQuestions: Question[] = [
  {
    id: 'average-won',
    ask: 'What was the average total contract value of the US-dollar deals that we won since 1 January 2026?',
    truth: `select avg(value) as mean from deals where outcome = 'won' and closed ${thisYear} and currency = 'USD'`,
    expect: [{ figure: 'mean' }],
  },
  {
    id: 'gap-to-target',
    ask: 'Our target for the second quarter of 2026 is 600,000 US dollars of total contract value. How much is still to be won, and how much open US-dollar pipeline (total contract value) is due from today until 30 June?',
    truth: `select 600000 - (select sum(value) from deals where outcome = 'won' and currency = 'USD' and closed between '2026-04-01' and :today) as gap,
      sum(value) as due from deals where outcome = 'open' and currency = 'USD' and closes between :today and '2026-06-30'`,
    expect: [{ figure: 'gap' }, { figure: 'due' }],
  },
  {
    id: 'approval-rate',
    ask: 'Of the quotes sent since 1 January 2026, how many were approved, how many declined, and what is the approval rate of those decided, in percent?',
    truth: `select sum(statusCategory = 'approved') as approved, sum(statusCategory = 'declined') as declined,
      100.0 * sum(statusCategory = 'approved') / sum(statusCategory in ('approved', 'declined')) as rate from offers where sent ${thisYear}`,
    expect: [{ figure: 'approved' }, { figure: 'declined' }, { figure: 'rate' }],
  },
  {
    id: 'oldest-unanswered',
    ask: 'Which quote that the customer can still accept today has waited the longest for an answer, and since which day?',
    truth: `select number, sent from offers where statusCategory = 'sent' and (expires is null or expires >= :today)
      and sent is not null order by sent limit 1`,
    expect: [{ name: 'number' }, { day: 'sent' }],
  },
  {
    id: 'label-open',
    ask: 'How many open deals do we have with customers that carry the label "VIP"?',
    truth: `select count(*) as deals from deals where outcome = 'open' and companyId in (select company.id from company, json_each(labels) e
      where e.value = 'VIP' or (e.type = 'object' and json_extract(e.value, '$.name') = 'VIP'))`,
    expect: [{ figure: 'deals' }],
  },
  {
    id: 'given-rate',
    ask: 'What is the open pipeline in US and Canadian dollars together, as total contract value in US dollars, if one Canadian dollar is 0.73 US dollars?',
    truth: `select sum(value * iif(currency = 'CAD', 0.73, 1)) as total from deals where outcome = 'open' and currency in ('USD', 'CAD')`,
    expect: [{ figure: 'total' }],
  },
  {
    id: 'contracts-running',
    ask: 'How many contract items with a monthly term of US-dollar companies are running today, and what revenue do they bring per month in all (as given, without multiplying by quantity)?',
    truth: `select count(*) as items, sum(cast(revenue as real)) as revenue from contract_item
      where term = 'month' and companyId in (select id from company where upper(trim(currency)) = 'USD') and ${running}`,
    expect: [{ figure: 'items' }, { figure: 'revenue' }],
  },
  {
    id: 'shared-email',
    ask: 'Which e-mail addresses does more than one contact have? Name all of them.',
    truth: `select lower(email) as email from contact where coalesce(deleted, '') = '' and email is not null
      group by 1 having count(*) > 1`,
    expect: [{ name: 'email' }],
  },
  {
    id: 'price-later',
    about: `select p.id as product, p.mpn, cast(e.price as real) as price, (select min(c.name) from company c where c.type = 'customer'
        and coalesce(c.deleted, '') = '' and c.name in (select name from company group by name having count(*) = 1)) as company
      from pricing_book b join pricing_book_product e on e.pricingBookId = b.id join product p on p.id = e.productId
      where substr(b.validFrom, 1, 10) > :today and json_array_length(b.companyIds) = 0 and json_array_length(b.classificationIds) = 0
        and e.price is not null and p.listed is not 0 and p.mpn is not null
        and lower(p.mpn) not in (select lower(mpn) from product where mpn is not null group by 1 having count(*) > 1)
      order by p.id limit 1`,
    ask: 'What is the special price of part {mpn} for {company} on 1 August 2026, in a pricing book that is not valid yet today?',
    truth: 'select cast(:price as real) as price',
    expect: [{ figure: 'price' }],
  },
];
