import type { Question } from '../question.ts';

const live = "coalesce(deleted, '') = ''";
const unique = `${live} and name not in (select name from company group by name having count(*) > 1)`;
const pickCompany = (having: string): string =>
  `select company.id, company.name as company from company where ${unique} and ${having} limit 1`;
const busiest = pickCompany(`id = (select companyId from deals where outcome = 'open'
  group by companyId order by count(*) desc, companyId limit 1)`);

/** About customers, the people there, contracts and discounts. */
export const companyQuestions: Question[] = [
  {
    id: 'company-open',
    about: busiest,
    ask: 'How many open deals do we have with {company}, and what are they worth in total contract value?',
    truth:
      "select count(*) as deals, sum(value) as total from deals where outcome = 'open' and companyId = :id",
    expect: [{ figure: 'deals' }, { figure: 'total' }],
  },
  {
    id: 'company-contacts',
    about:
      pickCompany(`(select count(*) from contact where companyId = company.id and ${live.replace('deleted', 'contact.deleted')}
      and coalesce(email, '') <> '') = 3`),
    ask: 'Whom do we know at {company}? Give names and e-mail addresses.',
    truth: `select lastName as name, email from contact where companyId = :id and ${live} and coalesce(email, '') <> ''`,
    expect: [{ name: 'name' }, { name: 'email' }],
  },
  {
    id: 'company-misspelt',
    about: `select id, name, substr(name, 1, 3) || substr(name, 5) as typed, telephone from company
      where ${unique} and length(name) > 14 and telephone is not null order by id limit 1`,
    ask: 'What is the phone number of {typed}?',
    truth: 'select name, substr(telephone, -4) as ending from company where id = :id',
    expect: [{ name: 'name' }, { name: 'ending' }],
  },
  {
    id: 'account-manager',
    about: `select company.id, company.name as company from company join owner on owner.id = company.accountManagerId
      where ${unique.replaceAll('name', 'company.name')} and company.id in (select companyId from deals)
      order by company.id limit 1`,
    ask: 'Who is the account manager of {company}?',
    truth:
      'select owner.name from company join owner on owner.id = company.accountManagerId where company.id = :id',
    expect: [{ name: 'name' }],
  },
  {
    id: 'company-city',
    about: `select id, name as company from company where ${unique} and address is not null order by id desc limit 1`,
    ask: 'In which city is {company}?',
    truth: "select json_extract(address, '$.city') as city from company where id = :id",
    expect: [{ name: 'city' }],
  },
  {
    id: 'company-quotes',
    about: pickCompany(
      `id = (select companyId from offers group by companyId order by count(*) desc, companyId limit 1)`,
    ),
    ask: 'How many quotes have we made for {company}, by status?',
    truth:
      'select statusCategory, count(*) as quotes from offers where companyId = :id group by statusCategory',
    expect: [{ name: 'statusCategory' }, { figure: 'quotes' }],
  },
  {
    id: 'company-won',
    about: pickCompany(`id = (select companyId from deals where outcome = 'won'
      group by companyId order by count(*) desc, companyId limit 1)`),
    ask: 'How many deals have we won with {company} so far, and how many have we lost?',
    truth: `select sum(outcome = 'won') as won, sum(outcome = 'lost') as lost from deals where companyId = :id`,
    expect: [{ figure: 'won' }, { figure: 'lost' }],
  },
  {
    id: 'contracts',
    about: pickCompany(`id = (select companyId from contract_item where companyId is not null
      group by companyId order by count(*) desc, companyId limit 1)`),
    ask: 'Which contract items does {company} have with us?',
    truth: 'select service from contract_item where companyId = :id',
    expect: [{ name: 'service' }],
  },
  {
    id: 'contract-end',
    about: pickCompany(
      `id = (select companyId from contract_item where endDate > :today order by endDate, companyId limit 1)`,
    ),
    ask: 'When does the next contract of {company} end?',
    truth:
      'select substr(min(endDate), 1, 10) as ends from contract_item where companyId = :id and endDate > :today',
    expect: [{ day: 'ends' }],
  },
  {
    id: 'discount-groups',
    about: pickCompany(
      `exists (select 1 from discount_group, json_each(companyIds) e where e.value = company.id)`,
    ),
    ask: 'Which discount groups is {company} assigned to by name?',
    truth: `select discount_group.name from discount_group, json_each(companyIds) e where e.value = :id`,
    expect: [{ name: 'name' }],
  },
  {
    id: 'contact-by-phone',
    about: `select id, substr(phone, -8) as typed from contact where ${live} and phone is not null and lastName is not null
      and phone not in (select phone from contact where phone is not null group by phone having count(*) > 1)
      order by id limit 1`,
    ask: 'A call came from a number that ends in {typed}. Who is it, and for which company?',
    truth: 'select lastName, companyName from contact where id = :id',
    expect: [{ name: 'lastName' }, { name: 'companyName' }],
  },
  {
    id: 'contact-by-name',
    about: `select id, firstName || ' ' || lastName as person from contact where ${live} and email is not null
      and companyId is not null and lastName in (select lastName from contact group by lastName, firstName having count(*) = 1)
      and firstName || lastName not in (select firstName || lastName from contact where firstName is not null
        and lastName is not null group by 1 having count(*) > 1) order by id limit 1`,
    ask: "What is {person}'s e-mail address?",
    truth: 'select email from contact where id = :id',
    expect: [{ name: 'email' }],
  },
  {
    id: 'contacts-without-email',
    ask: 'How many contacts have no e-mail address?',
    truth: `select count(*) as contacts from contact where ${live} and coalesce(email, '') = ''`,
    expect: [{ figure: 'contacts' }],
  },
  {
    id: 'same-name',
    about: `select name as company from company where ${live} group by name having count(*) > 1 limit 1`,
    ask: 'Brief me on {company}.',
    expect: [{ words: /\b(two|2|both|several|which|more than one)\b/i }],
  },
  {
    id: 'no-such-company',
    ask: 'How much open pipeline do we have with Blue Walrus Holdings?',
    expect: [{ words: /\b(no|not|none|cannot)\b|n['’]t\b/i }],
    forbid: [{ words: /\$\s?\d|\d\s?USD/ }],
  },
];
