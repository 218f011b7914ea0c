import type { Question } from '../question.ts';

const thisYear = "between '2026-01-01' and :today";
const running = (day: string) => `coalesce(deletedAt, '') = ''
  and coalesce(substr(startDate, 1, 10), '') <= ${day} and coalesce(substr(endDate, 1, 10), '9') >= ${day}`;
const inDollars = "companyId in (select id from company where upper(trim(currency)) = 'USD')";
const recurringOn = (day: string) => `select sum(cast(revenue as real) / iif(term = 'year', 12, 1))
  from contract_item where term in ('month', 'year') and ${inDollars} and ${running(`'${day}'`)}`;
/** Of a line: its value over a year, with its setup. */
const yearly =
  "coalesce(l.total, 0) * iif(l.billed = 'monthly', 12, 1) + coalesce(cast(l.setupPrice as real), 0)";

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
    id: 'contracts-by-term',
    ask: 'How many contract items with a monthly term run today, how many with a yearly one, and what revenue do they bring in US dollars, as given (without multiplying by quantity): per month, and per year?',
    truth: `select count(iif(term = 'month', 1, null)) as monthlyItems, count(iif(term = 'year', 1, null)) as yearlyItems,
      sum(iif(term = 'month' and ${inDollars}, cast(revenue as real), 0)) as monthly,
      sum(iif(term = 'year' and ${inDollars}, cast(revenue as real), 0)) as yearly
      from contract_item where ${running(':today')}`,
    expect: [
      { figure: 'monthlyItems' },
      { figure: 'yearlyItems' },
      { figure: 'monthly' },
      { figure: 'yearly' },
    ],
  },
  {
    id: 'contracts-top-companies',
    ask: 'Which three companies bring the most recurring revenue in US dollars over a year with the contract items that run today (12 × monthly and yearly revenue, as given), and how much each?',
    truth: `select c.name, sum(iif(term = 'month', 12, 1) * cast(revenue as real)) as revenue
      from contract_item i join company c on c.id = i.companyId
      where term in ('month', 'year') and ${inDollars} and coalesce(i.deletedAt, '') = ''
        and coalesce(substr(startDate, 1, 10), '') <= :today and coalesce(substr(endDate, 1, 10), '9') >= :today
      group by c.id order by 2 desc limit 3`,
    expect: [{ name: 'name' }, { figure: 'revenue' }],
  },
  {
    id: 'contracts-trend',
    ask: 'The recurring revenue of a month is that of the contract items that run on its last day: monthly ones, and a twelfth of yearly ones, as given. What was it in US dollars in December 2025, and what will it be in December 2026?',
    truth: `select (${recurringOn('2025-12-31')}) as past, (${recurringOn('2026-12-31')}) as coming`,
    expect: [{ figure: 'past' }, { figure: 'coming' }],
  },
  {
    id: 'three-checks',
    ask: 'How many quotes with status sent went out 30 or more days ago, how many contract items end within the next 30 days, and how many open deals have not changed for 30 days or more?',
    truth: `select (select count(*) from offers where statusCategory = 'sent' and sent <= date(:today, '-30 days')) as quotes,
      (select count(*) from contract_item where coalesce(deletedAt, '') = ''
        and substr(endDate, 1, 10) between :today and date(:today, '+30 days')) as items,
      (select count(*) from deals where outcome = 'open' and changed <= date(:today, '-30 days')) as deals`,
    expect: [{ figure: 'quotes' }, { figure: 'items' }, { figure: 'deals' }],
  },
  {
    id: 'lines-of-deals',
    ask: 'Divide the total contract value of each open US-dollar deal among the product categories of the lines of its last quote, by the first-year value of the lines (setups included, after the discounts of the lines). The last quote is one that was accepted, else the one created last; deleted ones do not count. Which category gets the most, and how much?',
    truth: `select k.name as category, sum(d.value * w.worth / w.whole) as value
      from deals d join (
        select q.opportunityId, l.categoryId, sum(${yearly}) as worth,
          sum(sum(${yearly})) over (partition by q.opportunityId) as whole
        from (select id, opportunityId, row_number() over (partition by opportunityId order by
            statusCategory = 'approved' desc, substr(createdAt, 1, 10) desc, id desc) as place
          from offers where opportunityId is not null) q
        join lines l on l.quoteId = q.id where q.place = 1 group by 1, 2
      ) w on w.opportunityId = d.id join category k on k.id = w.categoryId
      where d.outcome = 'open' and d.currency = 'USD' group by 1 order by 2 desc limit 1`,
    expect: [{ name: 'category' }, { figure: 'value' }],
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
