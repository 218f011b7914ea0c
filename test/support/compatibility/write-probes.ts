import type { Answer, Row } from '../hosts.ts';
import type { Active } from '../upstream/behaviour.ts';
import type { Compared } from './difference.ts';
import type { Session } from './session.ts';
import type { Opportunity } from './stored-data.ts';

type WriteRule = NonNullable<Active['writeRule']>;

/** A write, compared with what is stored then. */
interface WriteProbe {
  name: string;
  run(session: Session): Promise<Compared>;
}

const right: Compared = { result: 'right', why: '' };
const wrong = (why: string): Compared => ({ result: 'wrong', why });

/** Set by the service with every write. */
const kept = ['updatedAt', 'stageUpdatedAt'];

/** Names of the fields in which two states of a record differ. */
function differing(before: Opportunity | undefined, after: Opportunity | undefined): string[] {
  const [one, other] = [{ ...before } as Row, { ...after } as Row];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter(
    (name) => !kept.includes(name) && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
  );
}

/** Fields that the service changes by itself with every write. */
const ownDoing: Partial<Record<WriteRule, string>> = {
  computed: 'onetimeRevenue',
  'company kept': 'company',
};

/** Whether the first sentence says that something was stored differently. */
const saysSoFirst = ({ data }: Answer): boolean =>
  /\b(but|otherwise|besides|also changed|without being asked|not stored)\b/i.test(
    String(data.summary),
  );

function judgeStored(
  answer: Answer,
  changed: readonly string[],
  asked: string,
  rule: WriteRule | undefined,
): Compared {
  const others = changed.filter((name) => name !== asked);
  const faulty = [...others, ...(changed.includes(asked) ? [] : [asked])];
  if (faulty.length === 0) return right;
  const why = `${faulty.join(', ')} not as agreed; told: "${answer.data.summary}"`;
  // A field that was cleared because the server left it out is the server's fault, whatever it reports.
  if (faulty.some((name) => name !== (rule && ownDoing[rule]))) return wrong(why);
  if (saysSoFirst(answer)) return { result: 'honest', why };
  return answer.data.differs === undefined ? wrong(why) : { result: 'quiet', why };
}

function judgeWrite(
  answer: Answer,
  changed: readonly string[],
  asked: string,
  rule: WriteRule | undefined,
): Compared {
  const wasWritten = !answer.isError && answer.data.outcome === 'written';
  if (wasWritten) return judgeStored(answer, changed, asked, rule);
  if (changed.length > 0) return wrong(`${changed} changed, and it says "${answer.text}"`);
  return { result: 'error', why: answer.text };
}

interface Write {
  /** Index of the opportunity that is written; each probe has its own. */
  at: number;
  args(deal: Opportunity, session: Session): Row;
  asked: keyof Opportunity;
}

const writing = (name: string, { at, args, asked }: Write): WriteProbe => ({
  name,
  async run(session) {
    const deals = session.service.storedData['/opportunity'];
    const before = structuredClone(deals[at]) as Opportunity;
    const answer = await session.ask('cpq_upsert_opportunity', args(before, session));
    return judgeWrite(answer, differing(before, deals[at]), asked, session.writeRule);
  },
});

const otherCompany = ({ service }: Session, { company }: Opportunity): string =>
  service.storedData['/company'].find(({ id }) => id !== company?.id)?.name ?? '';

/** A stage that the opportunity is not in. */
const otherStage = ({ service }: Session, { pipelineStage: now }: Opportunity): string =>
  service.storedData['/opportunity']
    .flatMap(({ pipelineStage: stage }) => stage ?? [])
    .find(({ id }) => id !== now?.id)?.name ?? 'none';

const isNew = 'crm-deal-new';

/** A created record has the requested values, and is created once. */
const creating: WriteProbe = {
  name: 'upsert of a new one',
  async run({ ask, writeRule, service: { storedData } }) {
    const company = storedData['/company'][3];
    const args = { external_id: isNew, create: true, name: 'New deal', company: company?.name };
    const answer = await ask('cpq_upsert_opportunity', args);
    const [made, ...more] = storedData['/opportunity'].filter(
      (it) => it.externalIdentifier === isNew,
    );
    const expected = { name: 'New deal', company: { id: company?.id, name: company?.name } };
    const named = { name: made?.name, company: made?.company };
    const isMade = JSON.stringify(named) === JSON.stringify(expected) && more.length === 0;
    const changed = made ? [isMade ? 'the record' : 'another record'] : [];
    return judgeWrite(answer, changed, 'the record', writeRule);
  },
};

export const writes: readonly WriteProbe[] = [
  writing('upsert', {
    at: 0,
    args: ({ id }) => ({ opportunity_id: String(id), description: 'They ask for more' }),
    asked: 'description',
  }),
  writing('upsert by external id', {
    at: 1,
    args: ({ externalIdentifier }) => ({ external_id: externalIdentifier, onetime_revenue: 4_321 }),
    asked: 'onetimeRevenue',
  }),
  writing('upsert of the company', {
    at: 2,
    args: (deal, session) => ({
      opportunity_id: String(deal.id),
      company: otherCompany(session, deal),
    }),
    asked: 'company',
  }),
  writing('upsert of the stage', {
    at: 3,
    args: (deal, session) => ({
      opportunity_id: String(deal.id),
      stage: otherStage(session, deal),
    }),
    asked: 'pipelineStage',
  }),
  creating,
];
