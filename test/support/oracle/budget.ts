import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { requestsTo, type Sandbox } from '../sandbox.ts';

/** A client of a server that has read nothing yet. */
export interface Asked {
  call(tool: string, args: Record<string, unknown>): Promise<{ text: string; data: unknown }>;
  close(): Promise<unknown>;
}

export interface Measured {
  what: string;
  /** The arguments of the call. */
  requested: string;
  /** Tokens of the text, which is what most hosts show a model. */
  text: number;
  /** Tokens of the structured content, which some show instead. */
  structured: number;
  /** Tokens of what the service sends for the same page. */
  wire?: number;
  /** Requests to the service, the first time and again. */
  cold: number;
  warm: number;
}

/** A tenant of 1,300 opportunities, 5,000 products and 1,460 quotes, always the same. */
export const measuredTenant = {
  tenants: ['harborpeak'],
  seed: 1,
  scale: 4,
  day: '2026-06-15',
};

const jsonTokens = (value: unknown): number => countTokens(JSON.stringify(value));

/** Measures the cost of everyday questions. */
export async function measure(sandbox: Sandbox, fresh: () => Promise<Asked>): Promise<Measured[]> {
  const company = busiest(sandbox);
  const tasks: [what: string, tool: string, args: Record<string, unknown>, path?: string][] = [
    ['25 opportunities', 'cpq_list_opportunities', { size: 25 }, '/opportunity?size=25'],
    ['10 quotes', 'cpq_list_quotes', { size: 10 }, '/quote?size=10'],
    ['open pipeline by stage', 'cpq_brief_pipeline', { by: 'stage' }],
    ['quotes of one company', 'cpq_brief_company', { company, parts: ['quotes'] }],
    ['one company whole', 'cpq_brief_company', { company }],
    ['products under cost', 'cpq_check_sales_data', { check: 'below_cost' }],
  ];
  const measured: Measured[] = [];
  for (const [what, tool, args, path] of tasks) {
    const page = path === undefined ? {} : { wire: countTokens(await wireOf(sandbox, path)) };
    measured.push({
      what,
      requested: `${tool} ${JSON.stringify(args)}`,
      ...page,
      ...(await costOf(sandbox, fresh, tool, args)),
    });
  }
  return measured;
}

async function costOf(
  sandbox: Sandbox,
  fresh: () => Promise<Asked>,
  tool: string,
  args: Record<string, unknown>,
) {
  const server = await fresh();
  try {
    const before = requestsTo(sandbox).length;
    const { text, data } = await server.call(tool, args);
    const between = requestsTo(sandbox).length;
    await server.call(tool, args);
    const after = requestsTo(sandbox).length;
    const requests = { cold: between - before, warm: after - between };
    return { text: countTokens(text), structured: jsonTokens(data), ...requests };
  } finally {
    await server.close();
  }
}

/** The company with the most quotes, whose answers are the longest. */
function busiest({ database }: Sandbox): string {
  const sql = `select companyId as id from quote where companyId is not null and deletedAt is null
    group by companyId order by count(*) desc, companyId limit 1`;
  const [row] = database.prepare(sql).all() as { id: string }[];
  return row?.id ?? '';
}

/** How many records a table holds. */
export function countIn({ database }: Sandbox, table: string): number {
  const [row] = database.prepare(`select count(*) as n from ${table}`).all() as { n: number }[];
  return row?.n ?? 0;
}

async function wireOf({ tenants: [{ baseUrl, keys }] }: Sandbox, path: string): Promise<string> {
  const headers = { 'api-key': keys.read };
  const response = await fetch(`${baseUrl}/public-api${path}`, { headers });
  return response.text();
}
