import type { Question } from '../question.ts';

const sentOpen = "statusCategory = 'sent' and (expires is null or expires >= :today)";
const pickOwner = `select owner from offers where statusCategory = 'draft' and owner is not null and instr(owner, '''') = 0
  group by owner having count(*) between 3 and 12 order by count(*) desc, owner limit 1`;
const pickQuote = (having: string): string =>
  `select id, number from offers where items between 2 and 9 and unpriced = 0 and ${having} order by number limit 1`;

/** About quotes: of one customer, of all, and one before it goes out. */
export const quoteQuestions: Question[] = [
  {
    id: 'quotes-open-to-acceptance',
    ask: 'How many quotes are sent and can still be accepted today (not past their expiry date)?',
    truth: `select count(*) as quotes from offers where ${sentOpen}`,
    expect: [{ figure: 'quotes' }],
  },
  {
    id: 'quotes-sent-expired',
    ask: 'How many quotes with status sent are already past their expiry date?',
    truth:
      "select count(*) as quotes from offers where statusCategory = 'sent' and expires < :today",
    expect: [{ figure: 'quotes' }],
  },
  {
    id: 'quotes-by-status',
    ask: 'How many quotes do we have in each status?',
    truth: 'select statusCategory, count(*) as quotes from offers group by statusCategory',
    expect: [{ name: 'statusCategory' }, { figure: 'quotes' }],
  },
  {
    id: 'quotes-approved',
    ask: 'How many quotes were approved since 1 January 2026?',
    truth: `select count(*) as quotes from offers where statusCategory = 'approved' and approved between '2026-01-01' and :today`,
    expect: [{ figure: 'quotes' }],
  },
  {
    id: 'quotes-sent-by-owner',
    ask: 'Who has sent the most quotes since 1 January 2026 (whatever became of them), and how many?',
    truth: `select owner, count(*) as quotes from offers where sent between '2026-01-01' and :today
      and owner is not null group by owner order by 2 desc limit 1`,
    expect: [{ name: 'owner' }, { figure: 'quotes' }],
  },
  {
    id: 'drafts-of-owner',
    about: pickOwner,
    ask: 'Which quotes of {owner} are still drafts? Give their numbers.',
    truth: "select number from offers where statusCategory = 'draft' and owner = :owner",
    expect: [{ name: 'number' }],
  },
  {
    id: 'quotes-expiring',
    ask: 'Which quotes that are draft or sent expire within the next 7 days? Give their numbers.',
    truth: `select number from offers where statusCategory in ('draft', 'sent')
      and expires between :today and date(:today, '+7 days')`,
    expect: [{ name: 'number' }],
  },
  {
    id: 'quotes-closed-deals',
    ask: 'How many draft or sent quotes belong to a deal that is already closed, won or lost?',
    truth: `select count(*) as quotes from offers where statusCategory in ('draft', 'sent') and dealOutcome in ('won', 'lost', 'unknown')`,
    expect: [{ figure: 'quotes' }],
  },
  {
    id: 'quotes-without-items',
    ask: 'Which quotes have no items at all? Give their numbers.',
    truth: 'select number from offers where items = 0',
    expect: [{ name: 'number' }],
  },
  {
    id: 'quote-total',
    about: pickQuote("oneTime > 0 and monthly > 0 and coalesce(discountType, '') = ''"),
    ask: 'What does quote {number} come to, one-time and per month?',
    truth: 'select oneTime, monthly from offers where id = :id',
    expect: [{ figure: 'oneTime' }, { figure: 'monthly' }],
  },
  {
    id: 'quote-discounted',
    about: pickQuote(
      "oneTime > 0 and discountType like 'perc%' and cast(discountAmount as real) > 0",
    ),
    ask: 'What is the one-time total of quote {number} after its discount?',
    truth: 'select oneTime from offers where id = :id',
    expect: [{ figure: 'oneTime' }],
  },
  {
    id: 'quote-owner-and-expiry',
    about: pickQuote("statusCategory = 'sent' and owner is not null and expires is not null"),
    ask: 'Who owns quote {number}, and until when is it valid?',
    truth: 'select owner, expires from offers where id = :id',
    expect: [{ name: 'owner' }, { day: 'expires' }],
  },
  {
    id: 'quote-under-cost',
    about: `select o.id, o.number from offers o where o.statusCategory = 'draft' and (select count(*) from lines l
      where l.quoteId = o.id and cast(l.price as real) < cast(l.cost as real)) = 1 order by o.number limit 1`,
    ask: 'Is anything in quote {number} priced under cost? Which line?',
    truth:
      'select name from lines where quoteId = :id and cast(price as real) < cast(cost as real)',
    expect: [{ name: 'name' }],
  },
  {
    id: 'quote-margin',
    about: `select o.id, o.number from offers o where o.oneTime > 0 and coalesce(o.discountType, '') = '' and not exists (
      select 1 from lines l where l.quoteId = o.id and (l.total is null or l.cost is null or l.quantity is null
        or l.setupPrice is not null or l.setupCost is not null or l.billed <> 'one-time')) order by o.number limit 1`,
    ask: 'What margin do we make on quote {number}, in percent?',
    truth: `select 100 * (sum(total) - sum(cast(quantity as real) * cast(cost as real))) / sum(total) as margin
      from lines where quoteId = :id`,
    expect: [{ figure: 'margin' }],
  },
  {
    id: 'quote-deleted',
    about:
      "select id, number from quote where coalesce(deletedAt, '') <> '' and lower(status) = 'sent' order by number limit 1",
    ask: 'Is quote {number} still waiting for an answer from the customer?',
    expect: [{ words: /delet/i }],
  },
  {
    id: 'quotes-first-year',
    ask: 'What is the first-year value (one-time + 12 × monthly + yearly) of all approved quotes in US dollars, as far as their lines have prices?',
    truth:
      "select sum(firstYear) as total from offers where statusCategory = 'approved' and currency = 'USD'",
    expect: [{ figure: 'total' }],
  },
  {
    id: 'quotes-most-by-owner',
    ask: 'Which two of our salespeople have made the most quotes, whatever became of them, and how many each?',
    truth: `select owner, count(*) as quotes from offers group by owner order by 2 desc limit 2`,
    expect: [{ name: 'owner' }, { figure: 'quotes' }],
  },
  {
    id: 'quotes-last-sent',
    ask: 'On which day did we last send a quote?',
    truth: 'select max(sent) as day from offers',
    expect: [{ day: 'day' }],
  },
];
