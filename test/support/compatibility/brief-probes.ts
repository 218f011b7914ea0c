import type { Answer, Row } from '../hosts.ts';
import { failed, type Judged, judgeFacts, partOf, right, worst, wrong } from './judge.ts';
import type { Probe } from './probe.ts';
import type { Session } from './session.ts';
import type { Named, Opportunity, Quote } from './stored-data.ts';
import * as truth from './truth.ts';

const first = <T>(list: readonly T[], index = 0): T => list[index] as T;
const rowOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null ? (value as Row) : {};
const rowsOf = (value: unknown): Row[] => (rowOf(value).rows as Row[] | undefined) ?? [];
const fact = (value: unknown): truth.Fact => value as truth.Fact;

/** A group is identified by its name, or by its id where the service sends no names. */
function byStage(rows: readonly Row[], deals: readonly Opportunity[]): truth.Sums {
  const nameOf = ({ id, name }: Row): string => {
    const known = deals.find(({ pipelineStage: it }) =>
      [id, name].some((said) => said !== undefined && String(it?.id) === said),
    );
    return known?.pipelineStage?.name ?? String(name);
  };
  return truth.sumsBy(rows, nameOf, ({ count }) => Number(count));
}

function pipelineFacts({ data }: Answer, deals: readonly Opportunity[]): truth.Facts {
  const { count, oneTime, monthly, weightedOneTime } = rowOf(data.open);
  return {
    count: fact(count),
    oneTime: fact(oneTime),
    monthly: fact(monthly),
    weightedOneTime: fact(weightedOneTime),
    byStage: byStage(rowsOf(data.groups), deals),
    overdue: fact(rowOf(data.overdue).total),
  };
}

async function pipeline(
  { ask, service }: Session,
  args: Row,
  filter: truth.PipelineFilter,
): Promise<Judged> {
  const answer = await ask('cpq_brief_pipeline', args);
  const said = pipelineFacts(answer, service.storedData['/opportunity']);
  return judgeFacts(answer, said, truth.openPipeline(service.storedData, filter));
}

/** The name to ask for, or the id where the service sends no names. */
const wordFor = ({ on }: Session['service'], { id, name }: Named): string =>
  ['flat ids', 'bare ids'].includes(on.references) ? String(id) : name;

function judgeOutcomes(answer: Answer, storedData: Session['service']['storedData']): Judged {
  const { won, lost, outcomeUnknown } = rowOf(answer.data.closed);
  const said = {
    won: fact(rowOf(won).count),
    lost: fact(rowOf(lost).count),
    untold: fact(rowOf(outcomeUnknown).count),
  };
  const judged = judgeFacts(answer, said, truth.outcomes(storedData));
  const { untold } = truth.outcomes(storedData);
  const hides = Number(untold) > 0 && /\b0 won\b/.test(String(answer.data.summary));
  return judged.verdict === 'right' && hides
    ? wrong(`${untold} closed deals, and the headline says "${answer.data.summary}"`)
    : judged;
}

const pipelineProbes: readonly Probe[] = [
  { name: 'pipeline', run: (session) => pipeline(session, {}, {}) },
  {
    name: 'pipeline of an owner',
    run(session) {
      const owner = first(session.service.storedData['/opportunity']).owner as Named;
      return pipeline(session, { owner: wordFor(session.service, owner) }, { owner });
    },
  },
  {
    name: 'pipeline of a company',
    run(session) {
      const company = first(session.service.storedData['/opportunity']).company as Named;
      return pipeline(session, { company: company.name }, { company });
    },
  },
  {
    name: 'won and lost',
    async run({ ask, service }) {
      return judgeOutcomes(await ask('cpq_brief_pipeline'), service.storedData);
    },
  },
];

const companyProbe: Probe = {
  name: 'brief of a company',
  async run({ ask, service: { storedData } }) {
    const company = first(storedData['/opportunity']).company as Named;
    const answer = await ask('cpq_brief_company', { company: company.name });
    if (!answer.isError && answer.data.company === undefined) {
      return partOf(answer, `not told of: "${answer.data.summary}"`);
    }
    const { contacts, open, quotes } = answer.data;
    const byStatus = (rowOf(quotes).byStatus as Row[] | undefined) ?? [];
    const said = {
      contacts: fact(rowOf(contacts).total),
      open: fact(rowOf(open).total),
      openOneTime: fact(rowOf(open).oneTime),
      quotes: fact(rowOf(quotes).total),
      quotesOneTime: truth.sumsBy(
        byStatus,
        ({ currency }) => String(currency),
        ({ oneTime }) => Number(oneTime ?? 0),
      ),
    };
    return judgeFacts(answer, said, truth.company(storedData, company));
  },
};

async function quoteBrief({ ask }: Session, quote: Quote, word: string): Promise<Judged> {
  const answer = await ask('cpq_brief_quote', { quote: word });
  if (!answer.isError && answer.data.id !== String(quote.id)) {
    return partOf(answer, `not quote ${quote.number}: "${answer.data.summary}"`);
  }
  const totals = Object.entries(rowOf(answer.data.totals)).map(([name, it]) => [name, fact(it)]);
  const said: truth.Facts = Object.fromEntries(totals);
  const { name, id } = rowOf(answer.data.company);
  const isNamed = name === quote.company.name || id === String(quote.company.id);
  return judgeFacts(
    answer,
    { ...said, company: isNamed ? quote.company.name : undefined },
    { ...truth.quoteTotals(quote), company: quote.company.name },
  );
}

const someQuote = ({ service }: Session): Quote => first(service.storedData['/quote'], 3);

const quoteProbes: readonly Probe[] = [
  {
    name: 'brief of a quote',
    run: (session) => quoteBrief(session, someQuote(session), String(someQuote(session).id)),
  },
  {
    name: 'brief of a quote by number',
    run: (session) => quoteBrief(session, someQuote(session), someQuote(session).number),
  },
];

function check(name: 'below_cost' | 'stale_quotes', of: typeof truth.belowCost): Probe {
  return {
    name: `check ${name}`,
    async run({ ask, service: { storedData } }) {
      const answer = await ask('cpq_check_sales_data', { check: name, size: 2 });
      const expected = of(storedData);
      const said = Object.keys(expected).map((key) => [key, fact(answer.data[key])]);
      return judgeFacts(answer, Object.fromEntries(said), expected);
    },
  };
}

function judgeHit(answer: Answer, kind: string, id: unknown): Judged {
  if (answer.isError) return failed(answer);
  const groups = answer.data.groups as Row[];
  const hits = (groups.find((group) => group.kind === kind)?.hits as Row[] | undefined) ?? [];
  const found = hits.some((hit) => hit.exact === true && hit.id === String(id));
  return found ? right : partOf(answer, `no ${kind} found: "${answer.data.summary}"`);
}

const findProbe: Probe = {
  name: 'find',
  async run({ ask, service: { storedData } }) {
    const [company, contact, quote] = [
      first(storedData['/company'], 120),
      first(storedData['/contact'], 140),
      first(storedData['/quote'], 130),
    ];
    const find = (text: string) => ask('cpq_find', { query: text });
    return worst([
      judgeHit(await find(company.name), 'company', company.id),
      judgeHit(await find(contact.email), 'contact', contact.id),
      judgeHit(await find(quote.number), 'quote', quote.id),
    ]);
  },
};

async function record(
  { ask }: Session,
  resource: string,
  word: unknown,
  expected: Row,
): Promise<Judged> {
  const answer = await ask('cpq_get_record', { resource, id: String(word) });
  if (answer.isError) return failed(answer);
  const said = rowOf(answer.data.record);
  const differing = Object.keys(expected).find(
    (name) => String(said[name] ?? '') !== String(expected[name]),
  );
  if (differing === undefined) return right;
  // Unknown fields are shown unchanged.
  if (Object.values(said).includes(expected[differing])) {
    return { verdict: 'partial', why: `${differing} comes under another name` };
  }
  return partOf(
    answer,
    `${resource}: ${differing} ${said[differing]} instead of ${expected[differing]}`,
  );
}

const recordProbes: readonly Probe[] = [
  {
    name: 'record by id',
    async run(session) {
      const { storedData } = session.service;
      const [deal, quote] = [first(storedData['/opportunity']), first(storedData['/quote'], 3)];
      const { id, name, onetimeRevenue } = deal;
      return worst([
        await record(session, 'opportunity', id, { id, name, onetimeRevenue }),
        await record(session, 'quote', quote.id, { id: quote.id, number: quote.number }),
      ]);
    },
  },
  {
    name: 'record by external identifier',
    async run(session) {
      const { storedData } = session.service;
      const [company, product] = [
        first(storedData['/company'], 7),
        first(storedData['/product'], 7),
      ];
      const { id, name } = company;
      return worst([
        await record(session, 'company', company.externalIdentifier, { id, name }),
        await record(session, 'product', product.externalIdentifier, {
          id: product.id,
          mpn: product.mpn,
        }),
      ]);
    },
  },
];

export const briefProbes: readonly Probe[] = [
  ...pipelineProbes,
  companyProbe,
  ...quoteProbes,
  check('below_cost', truth.belowCost),
  check('stale_quotes', truth.staleQuotes),
  findProbe,
  ...recordProbes,
];
