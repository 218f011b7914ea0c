import type { Answer, Row as AnswerRow, Row } from '../hosts.ts';
import { listTools } from '../samples.ts';
import { failed, hasCaveat, type Judged, partOf, right, worst, wrong } from './judge.ts';
import type { Probe } from './probe.ts';
import { rowProblem } from './rows.ts';
import { sorted } from './search.ts';
import type { Session } from './session.ts';
import { type ListPath, searchPaths } from './stored-data.ts';
import { listed } from './truth.ts';

/** The result of reading a list. */
interface Walk {
  rows: AnswerRow[];
  answers: Answer[];
  /** The probe stopped although there are more records. */
  stopped: boolean;
}

const maxPages = 8;

/** Reads a list from the beginning and follows `page.next`, as an assistant does. */
async function walk({ ask }: Session, tool: string, args: Row): Promise<Walk> {
  const read: Walk = { rows: [], answers: [], stopped: false };
  let from: number | undefined = 0;
  while (from !== undefined) {
    const answer = await ask(tool, { ...args, from });
    read.answers.push(answer);
    if (answer.isError) break;
    read.rows.push(...answer.records);
    from = answer.page.next;
    read.stopped = from !== undefined && read.answers.length === maxPages;
    if (read.stopped) break;
  }
  return read;
}

const idOf = ({ id, service, name }: AnswerRow): string => String(id ?? service ?? name);

/** A count that is not a lower bound must be exact. */
function wrongCount(answer: Answer, total: number): Judged {
  const open =
    answer.coverage.reason === 'not counted' || /at least/.test(String(answer.data.summary));
  const { page } = answer;
  if (page.total === total || (open && page.total <= total)) return right;
  return partOf(answer, `counts ${page.total} instead of ${total}`);
}

function judgeRows(path: ListPath, { rows, answers }: Walk, truth: readonly Row[]): Judged {
  const byId = new Map(truth.map((record) => [idOf(record), record]));
  const caveats = answers.some(hasCaveat);
  const fault = (why: string): Judged => (caveats ? { verdict: 'partial', why } : wrong(why));
  if (rows.length > new Set(rows.map(idOf)).size) return fault('records come twice');
  for (const row of rows) {
    const record = byId.get(idOf(row));
    if (!record) return fault(`${idOf(row)} does not belong there`);
    const problem = rowProblem(path, row, record);
    if (problem !== undefined) return fault(`${idOf(row)}: ${problem}`);
  }
  return right;
}

function judgeEnd({ rows, answers, stopped }: Walk, total: number): Judged {
  const last = answers.at(-1);
  if (stopped || rows.length === total || !last) return right;
  if (last.isError) return failed(last);
  const why = `${rows.length} of ${total} came`;
  if (last.page.shown === 0) return partOf(last, `${why}, and then "${last.data.summary}"`);
  // "20 of 330" without a next page says that there is more.
  return last.page.total === total ? { verdict: 'partial', why } : partOf(last, why);
}

function judgeWalk(path: ListPath, read: Walk, truth: readonly Row[]): Judged {
  const [first] = read.answers;
  if (first?.isError) return failed(first);
  const answered = read.answers.filter(({ isError }) => !isError);
  return worst([
    judgeRows(path, read, truth),
    judgeEnd(read, truth.length),
    ...answered.map((answer) => wrongCount(answer, truth.length)),
  ]);
}

const whole: readonly Probe[] = Object.entries(listTools).map(([tool, route]) => ({
  name: `list ${tool.replace('cpq_list_', '').replaceAll('_', ' ')}`,
  async run(session) {
    const path = route as ListPath;
    const size = searchPaths.includes(path) ? 100 : 20;
    return judgeWalk(
      path,
      await walk(session, tool, { size }),
      listed(session.service.storedData, path),
    );
  },
}));

const tree: Probe = {
  name: 'category tree',
  async run({ ask, service }) {
    const answer = await ask('cpq_get_category_tree', { depth: 5 });
    if (answer.isError) return failed(answer);
    const read = { rows: answer.records, answers: [answer], stopped: false };
    return judgeRows('/category', read, service.storedData['/category']);
  },
};

async function searchedFor(
  session: Session,
  tool: string,
  path: ListPath,
  search: Record<string, string>,
): Promise<Judged> {
  const read = await walk(session, tool, { size: 100, ...search });
  return judgeWalk(path, read, listed(session.service.storedData, path, search));
}

const filter: Probe = {
  name: 'filter',
  run(session) {
    const id = session.service.storedData['/opportunity'][0]?.company?.id;
    const search = { filters: `company.id:${id}` };
    return searchedFor(session, 'cpq_list_opportunities', '/opportunity', search);
  },
};

const query: Probe = {
  name: 'query',
  run: (session) => searchedFor(session, 'cpq_list_companies', '/company', { query: 'Freight' }),
};

/** Products of one price may come in any order. */
const sort: Probe = {
  name: 'sort',
  async run({ ask, service }) {
    const answer = await ask('cpq_list_products', { size: 10, sort: '-price' });
    if (answer.isError) return failed(answer);
    const truth = sorted(service.visible('/product'), '-price');
    const said = answer.records.map(({ price }) => price);
    const prices = truth.slice(0, Math.max(1, said.length)).map(({ price }) => price);
    if (JSON.stringify(said) === JSON.stringify(prices)) return right;
    return partOf(answer, `prices ${said} instead of ${prices}`);
  },
};

export const listProbes: readonly Probe[] = [...whole, tree, filter, query, sort];
