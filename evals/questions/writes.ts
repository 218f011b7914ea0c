import type { Question } from '../question.ts';

const pick = (
  offset: number,
): string => `select id, name, company, pipelineStageId as stage, closes, externalIdentifier as external
  from deals where outcome = 'open' and statusId = 'open' and externalIdentifier is not null and companyId is not null
    and name not in (select name from deals group by name having count(*) > 1) order by id limit 1 offset ${offset}`;

/** Changes of opportunities, with a person who agrees or does not. Played last: they change the tenant. */
export const writeQuestions: Question[] = [
  {
    id: 'write-close-date',
    about: pick(3),
    ask: 'Please move the expected close date of the deal "{name}" ({external}) to 30 September 2026.',
    person: 'accept',
    expect: [{ words: /2026-09-30|30 September|September 30/i }],
    after:
      "select substr(expectedCloseDate, 1, 10) = '2026-09-30' as moved, pipelineStageId = :stage as sameStage from opportunity where id = :id",
  },
  {
    id: 'write-stage',
    about: pick(7),
    ask: 'The customer said yes on the phone: put the deal {external} into the stage "Verbal yes".',
    person: 'accept',
    expect: [{ words: /verbal yes/i }],
    after: `select pipelineStageId = (select id from pipeline_stage where name = 'Verbal yes') as moved,
      substr(expectedCloseDate, 1, 10) is :closes as sameDate from opportunity where id = :id`,
  },
  {
    id: 'write-declined',
    about: pick(11),
    ask: 'Set the monthly revenue of the deal {external} to 99,999.',
    person: 'decline',
    expect: [
      {
        words:
          /declin|not (been )?(changed|written|made|applied|agreed)|nothing (was|has been)|unchanged|refus|reject/i,
      },
    ],
    after:
      'select coalesce(monthlyRevenue, 0) <> 99999 as unchanged from opportunity where id = :id',
  },
  {
    id: 'write-new',
    about: `select id, name as company from company where coalesce(deleted, '') = '' and name not in
      (select name from company group by name having count(*) > 1) order by id limit 1 offset 5`,
    ask: 'Create a new deal "Office move, 40 seats" for {company} with external identifier EVAL-1, stage "New enquiry", one-time revenue 12,500.',
    person: 'accept',
    expect: [{ words: /EVAL-1|office move/i }],
    after: `select count(*) = 1 as created from opportunity where externalIdentifier = 'EVAL-1' and companyId = :id
      and cast(onetimeRevenue as real) = 12500`,
  },
  {
    id: 'write-unknown-stage',
    about: pick(15),
    ask: 'Move the deal {external} to the stage "Procurement review".',
    expect: [{ words: /no |not|n't|unknown|exist|which/i }],
    after: 'select pipelineStageId = :stage as unchanged from opportunity where id = :id',
  },
];
