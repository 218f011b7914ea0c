// Calls each tool against the embedded tenant, on a fixed day, for the examples in docs/tools.md.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { toolsets } from '../src/tool-kit/define-tool.ts';

type Row = Record<string, unknown>;
type Arguments = Row;
type Call = (name: string, args: Arguments) => Promise<{ text: string; data: Row }>;

/** What the examples refer to, taken from the tenant, so that an example never names a record that is not there. */
interface Subjects {
  company: string;
  quote: string;
  opportunity: string;
  mpn: string;
  /** The id of a product that a pricing book has. */
  bookProduct: string;
  /** From the journal; the example of the upsert made it. */
  change: string;
}

export interface Example {
  /** As JSON. */
  arguments: string;
  answer: string;
}

const maxLines = 16;
const maxWidth = 160;
const size = { size: 2 };

/** In the order in which they are called; a change is made before it is listed and reverted. */
const examples: Record<string, (subjects: Subjects) => Arguments> = {
  cpq_list_opportunities: () => ({ ...size, filters: 'outcome:open', sort: 'closes' }),
  cpq_list_quotes: () => ({ ...size, filters: 'status:sent', sort: '-oneTime' }),
  cpq_get_category_tree: () => ({ depth: 1 }),
  cpq_get_record: ({ quote }) => ({
    resource: 'quote',
    id: quote,
    fields: ['title', 'status', 'oneTime'],
  }),
  cpq_find: ({ mpn }) => ({ query: mpn.toLowerCase() }),
  cpq_brief_pipeline: () => ({ by: 'owner', sections: ['groups'] }),
  cpq_pipeline_changes: () => ({ since: '7d', rows: 3 }),
  cpq_brief_company: ({ company }) => ({ company, parts: ['opportunities', 'quotes'] }),
  cpq_brief_quote: ({ quote }) => ({ quote, lines: 3 }),
  cpq_brief_quotes: () => ({ by: 'status', size: 2 }),
  cpq_price_product: ({ company, bookProduct }) => ({ company, product: bookProduct }),
  cpq_check_sales_data: () => ({ check: 'stale_quotes', size: 3 }),
  cpq_upsert_opportunity: ({ opportunity }) => ({ opportunity_id: opportunity, probability: 0.6 }),
  cpq_list_changes: () => ({}),
  cpq_revert_change: ({ change }) => ({ change_id: change }),
};

/** Examples of some lists and all other tools. @throws for a tool without one, or that refuses it */
export async function toolExamples(day: string): Promise<ReadonlyMap<string, Example>> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-examples-'));
  const client = await connect(day, folder);
  const call: Call = async (name, args) => {
    const { content, structuredContent, isError } = await client.callTool({
      name,
      arguments: args,
    });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    if (isError) throw new Error(`${name}: ${text}`);
    return { text, data: structuredContent as Row };
  };
  try {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name).filter((name) => !name.startsWith('cpq_list_'));
    const missing = names.filter((name) => !examples[name]);
    if (missing.length > 0)
      throw new Error(
        `Add a call of ${missing.join(', ')} to examples in scripts/tool-examples.ts.`,
      );
    return await callAll(call, day);
  } finally {
    await client.close();
    await rm(folder, { recursive: true });
  }
}

/** A client whose person agrees to every change, and a server of its own. */
async function connect(day: string, folder: string): Promise<Client> {
  const client = new Client(
    { name: 'tool-examples', version: '1' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { agree: true },
  }));
  const settings = {
    CPQ_GRANTS: 'read,opportunity:write',
    CPQ_TOOLSETS: toolsets.join(','),
    CPQ_STATE_DIR: folder,
    NODE_OPTIONS: clockAt(day),
  };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['dist/cpq-mcp.js', '--sandbox'],
      env: settings,
    }),
  );
  return client;
}

/** A clock that stays at noon, so that the answers are the same each time. */
function clockAt(day: string): string {
  const source = `
    const RealDate = Date;
    const now = RealDate.parse('${day}T12:00:00Z');
    globalThis.Date = class Date extends RealDate {
      constructor(...given) { super(...(given.length > 0 ? given : [now])); }
      static now() { return now; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(source)}`;
}

async function callAll(call: Call, day: string): Promise<Map<string, Example>> {
  const subjects = await subjectsOf(call, day);
  const made = new Map<string, Example>();
  for (const [name, argumentsFor] of Object.entries(examples)) {
    if (name === 'cpq_revert_change') subjects.change = await lastChange(call);
    const args = argumentsFor(subjects);
    const { text } = await call(name, args);
    made.set(name, { arguments: withoutRandomIds(JSON.stringify(args)), answer: shortened(text) });
  }
  return made;
}

async function subjectsOf(call: Call, day: string): Promise<Subjects> {
  const first = async (tool: string, args: Arguments): Promise<Row> => {
    const { data } = await call(tool, { size: 1, ...args });
    const [record] = data.records as Row[];
    if (!record) throw new Error(`${tool} has no record for the examples`);
    return record;
  };
  const quotes = {
    filters: 'status:sent,oneTime:>10000,deleted:(none),company:(any)',
    detail: 'concise',
  };
  const quote = await first('cpq_list_quotes', quotes);
  const opportunity = await first('cpq_list_opportunities', {
    filters: 'outcome:open,probability:<0.5',
  });
  const product = await first('cpq_list_products', { filters: 'mpn:(any)' });
  const books = { filters: `for:everyone,validFrom:<${day},validTo:>${day}`, detail: 'full' };
  const book = await first('cpq_list_pricing_books', books);
  const [priced] = book.products as { productId: string }[];
  return {
    company: String(quote.company),
    quote: String(quote.number),
    opportunity: String(opportunity.id),
    mpn: String(product.mpn),
    bookProduct: String(priced?.productId),
    change: '',
  };
}

async function lastChange(call: Call): Promise<string> {
  const { data } = await call('cpq_list_changes', {});
  const [change] = (data.changes ?? data.records) as { change_id: string }[];
  if (!change) throw new Error('The upsert left no change in the journal');
  return change.change_id;
}

const withoutRandomIds = (text: string): string => text.replace(/\bchg_\w+/g, 'chg_…');

function shortened(text: string): string {
  const lines = withoutRandomIds(text).split('\n');
  const shown = lines
    .slice(0, maxLines)
    .map((line) => (line.length > maxWidth ? `${line.slice(0, maxWidth)}…` : line));
  return [...shown, ...(lines.length > maxLines ? ['…'] : [])].join('\n');
}
