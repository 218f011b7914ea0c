import type { Answer, Row } from '../hosts.ts';
import type { Session } from './session.ts';

/**
 * The judge by difference: a question to a service that differs from the documented one has the answer that it has there,
 * or one whose first sentence says what is missing.
 */

export interface Question {
  name: string;
  tool: string;
  args(session: Session): Row;
}

const none = (): Row => ({});
const ask = (name: string, tool: string, args: Question['args'] = none): Question => ({
  name,
  tool: `cpq_${tool}`,
  args,
});

const company = ({ service }: Session): string =>
  String(service.storedData['/opportunity'][0]?.company?.name);

export const questions: readonly Question[] = [
  ask('pipeline', 'brief_pipeline'),
  ask('pipeline by owner', 'brief_pipeline', () => ({ by: 'owner', sections: ['groups'] })),
  ask('pipeline of a company', 'brief_pipeline', (it) => ({ company: company(it) })),
  ask('closed deals', 'brief_pipeline', () => ({ outcome: 'closed' })),
  ask('company', 'brief_company', (it) => ({ company: company(it) })),
  ask('quote', 'brief_quote', ({ service }) => ({
    quote: service.storedData['/quote'][3]?.number,
  })),
  ask('quotes', 'brief_quotes'),
  ask('stale quotes', 'check_sales_data', () => ({ check: 'stale_quotes', size: 3 })),
  ask('below cost', 'check_sales_data', () => ({ check: 'below_cost', size: 3 })),
  ask('list opportunities', 'list_opportunities', () => ({ size: 20 })),
  ask('list deals of a company', 'list_opportunities', (it) => ({
    filters: `company:${company(it)}`,
  })),
  ask('list quotes', 'list_quotes', () => ({ size: 20 })),
  ask('list contacts', 'list_contacts', () => ({ size: 20 })),
  ask('list products', 'list_products', () => ({ size: 20 })),
  ask('find', 'find', ({ service }) => ({ query: service.storedData['/quote'][7]?.number })),
  ask('price', 'price_product', (it) => ({
    company: company(it),
    product: it.service.storedData['/product'][4]?.mpn,
  })),
  ask('price in a book', 'price_product', ({ service }) => ({
    company: service.storedData['/company'][0]?.name,
    product: service.storedData['/product'][0]?.mpn,
  })),
  ask('pricing drift', 'check_sales_data', () => ({ check: 'pricing_drift', size: 3 })),
];

const byId = ({ service }: Session): string =>
  `company.id:${service.storedData['/opportunity'][0]?.company?.id}`;

/** Asked before anything else is known of the service: of a later page, and of filters. */
export const firstQuestions: readonly Question[] = [
  ask('second page', 'list_opportunities', () => ({ size: 20, from: 20 })),
  ask('filter', 'list_opportunities', (it) => ({ filters: byId(it) })),
  ask('won deals', 'list_opportunities', () => ({ filters: 'outcome:won', size: 10 })),
  ask('open deals of an owner', 'list_opportunities', () => ({
    filters: 'owner:Ada Brook,outcome:open',
    size: 10,
  })),
];

const otherLists = [
  ...['companies', 'quote_templates', 'quote_widgets', 'pricing_books', 'categories'],
  ...['discount_groups', 'contract_items'],
];

/** Of texts and orders, and of the records that no brief needs. */
export const listQuestions: readonly Question[] = [
  ...otherLists.map((name) => ask(`list ${name}`, `list_${name}`, () => ({ size: 20 }))),
  ask('category tree', 'get_category_tree', () => ({ depth: 5 })),
  ask('query', 'list_companies', () => ({ query: 'Freight' })),
  ask('sort', 'list_products', () => ({ size: 10, sort: '-price' })),
  ask('record', 'get_record', ({ service }) => ({
    resource: 'quote',
    id: String(service.storedData['/quote'][5]?.id),
  })),
];

/** `quiet`: a figure is missing, and only a count or a note says so. */
type Difference = 'right' | 'honest' | 'quiet' | 'wrong' | 'error';

export interface Compared {
  result: Difference;
  why: string;
}

/** What says that something is missing, in the first sentence of an answer. */
const missing =
  /\b(?:at least|only|incomplete|not (?:all|read|known|whole|counted|understood)|unknown|partial|part of|could not|cannot|ignore[sd]?|without|missing|no (?:\w+ )*(?:field|known)|look different|(?:is|are) left out)\b/gi;

const firstSentence = ({ text }: Answer): string =>
  /^[^\n]*?[.?!](?=\s|$)|^[^\n]*/.exec(text)?.[0] ?? '';

const wordsOf = (answer: Answer): string[] =>
  firstSentence(answer).toLowerCase().match(missing) ?? [];

/** Whether the first sentence says that something is missing, or asks back. */
function saysSo(expected: Answer, answer: Answer): boolean {
  const usual = wordsOf(expected);
  return /^Which /.test(answer.text) || wordsOf(answer).some((word) => !usual.includes(word));
}

/** Not figures: texts around them, and times of reading. */
const around = new Set(['summary', 'notes', 'coverage', 'asOf', 'next', 'requests', 'link']);

type Leaf = string | number | boolean;

const keyOf = (entry: unknown, at: number): string => {
  if (typeof entry !== 'object' || entry === null) return String(at);
  const { id, name, number, currency, key, status } = entry as Row;
  return String(id ?? number ?? key ?? name ?? status ?? currency ?? at);
};

function leavesOf(value: unknown, path = '', found = new Map<string, Leaf>()): Map<string, Leaf> {
  if (Array.isArray(value)) {
    for (const [at, entry] of value.entries())
      leavesOf(entry, `${path}/${keyOf(entry, at)}`, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, entry] of Object.entries(value))
      if (!around.has(name)) leavesOf(entry, `${path}.${name}`, found);
  } else if (value !== undefined && value !== null && value !== 0) {
    found.set(path, value as Leaf);
  }
  return found;
}

/** A word of the service that an answer repeats is not a claim of its own; a number or a day is. */
const isRepeated = (got: Leaf | undefined): boolean =>
  typeof got === 'string' && !/^[\d.,-]+$/.test(got);

/** Answers that show records as they are read. */
const isList = ({ tool }: Question): boolean => /^cpq_(?:list_|get_record)/.test(tool);
/** A page may be shorter than it was asked for, where the next one begins behind it. */
const isShorterPage = ({ page }: Answer, difference: string): boolean =>
  difference.startsWith('.page.shown') && page.shown > 0 && page.next === page.from + page.shown;

const isSame = (one: Leaf, other: Leaf | undefined): boolean =>
  one === other ||
  (typeof one === 'number' && typeof other === 'number' && Math.abs(one - other) < 0.005);

/** An id that the service does not send is no figure; the name beside it is compared. */
const isId = (path: string): boolean => /(?:\.id|Id)$/.test(path);

/** The differences of two answers: figures that are others, and figures that are missing. */
function differences(expected: Answer, answer: Answer): { others: string[]; missing: string[] } {
  const [want, got] = [leavesOf(expected.data), leavesOf(answer.data)];
  const others: string[] = [];
  const missing: string[] = [];
  for (const [path, value] of want) {
    const other = got.get(path);
    if (isSame(value, other) || isRepeated(other)) continue;
    if (other === undefined && isId(path)) continue;
    (other === undefined ? missing : others).push(`${path}: ${other} instead of ${value}`);
  }
  for (const [path, value] of got) {
    if (want.has(path) || typeof value !== 'number') continue;
    missing.push(`${path}: ${value} instead of nothing`);
  }
  return { others, missing };
}

/** An error that is no answer about the service. */
const ownFault = /Something went wrong inside this server/;

export function compare(question: Question, expected: Answer, answer: Answer): Compared {
  const told = firstSentence(answer);
  if (answer.isError) return { result: ownFault.test(answer.text) ? 'wrong' : 'error', why: told };
  const { others: differing, missing: absent } = differences(expected, answer);
  const others = differing.filter((it) => !isList(question) || !isShorterPage(answer, it));
  const all = [...others, ...absent];
  const why = `“${told}” ${all.slice(0, 4).join('; ')}`;
  // A row that lacks what the service does not say shows so itself.
  const isShown = isList(question) && absent.every((it) => /^\.records?\b/.test(it));
  if (others.length === 0 && (absent.length === 0 || isShown)) return { result: 'right', why: '' };
  if (saysSo(expected, answer)) return { result: 'honest', why };
  return { result: others.length > 0 ? 'wrong' : 'quiet', why };
}

/** The verdict on all answers about one service: `blackout` if most of them are errors. */
export type Verdict = Exclude<Difference, 'error'> | 'errors' | 'blackout';

/** @param mayFail questions that nobody can answer there */
export function verdictOf(
  compared: ReadonlyMap<string, Compared>,
  mayFail: readonly string[] = [],
): Verdict {
  const having = (result: Difference): string[] =>
    [...compared].filter(([, it]) => it.result === result).map(([name]) => name);
  if (having('wrong').length > 0) return 'wrong';
  const errors = having('error');
  if (errors.length > compared.size / 2) return 'blackout';
  if (having('quiet').length > 0) return 'quiet';
  if (errors.some((name) => !mayFail.includes(name))) return 'errors';
  return having('honest').length + errors.length > 0 ? 'honest' : 'right';
}

/** What is not right, a line each. */
export const inLines = (compared: ReadonlyMap<string, Compared>): string =>
  [...compared]
    .filter(([, { result }]) => result !== 'right' && result !== 'honest')
    .map(([name, { result, why }]) => `${name}: ${result}: ${why.slice(0, 400)}`)
    .join('\n');
