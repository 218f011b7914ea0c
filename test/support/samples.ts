import type { AnyTool } from '../../src/tool-kit/define-tool.ts';
import { catalog } from '../../tools/catalog.ts';
import type { Row } from './hosts.ts';
import { type Address, askService } from './sandbox.ts';

/** The list tools of the service's own routes, each with its route. */
export const listTools: Readonly<Record<string, string>> = {
  cpq_list_companies: '/company',
  cpq_list_contacts: '/contact',
  cpq_list_opportunities: '/opportunity',
  cpq_list_products: '/product',
  cpq_list_quotes: '/quote',
  cpq_list_quote_templates: '/quote-template',
  cpq_list_quote_widgets: '/quote-widget-template',
  cpq_list_pricing_books: '/pricing-book',
  cpq_list_categories: '/category',
  cpq_list_discount_groups: '/quote-discount-group',
  cpq_list_contract_items: '/contract/items',
};

/** What a host lists that shows no views. */
export const shownTools: readonly AnyTool[] = catalog.filter(({ forView }) => !forView);

/** Also those that only views call: who knows their names may call them. */
export const readTools: readonly AnyTool[] = catalog.filter(
  ({ needs }) => !needs.some((grant) => grant.endsWith(':write')),
);

/** Arguments for the tools that need some. */
const samples: Readonly<Record<string, (at: Address) => Promise<Row>>> = {
  cpq_get_record: async (at) => ({ resource: 'company', id: (await firstOf(at, '/company')).id }),
  cpq_check_sales_data: async () => ({ check: ['thin_margins'] }),
  cpq_find: async (at) => ({ query: (await firstOf(at, '/company')).name }),
  cpq_brief_company: async (at) => ({ company: (await firstOf(at, '/company')).id }),
  cpq_price_product: async (at) => ({
    company: (await firstOf(at, '/company')).id,
    product: (await firstOf(at, '/product')).id,
  }),
  cpq_brief_quote: async (at) => ({ quote: (await firstOf(at, '/quote')).id }),
};

/** Valid arguments for a reading tool. @throws if none are defined */
export async function sampleFor(tool: AnyTool, at: Address): Promise<Row> {
  const sample = samples[tool.name];
  if (sample) return sample(at);
  if (tool.input.safeParse({}).success) return {};
  const chosen = choices(tool);
  if (tool.input.safeParse(chosen).success) return chosen;
  throw new Error(`${tool.name} needs arguments: add some to test/support/samples.ts`);
}

/** The service's records of a route, read without the server's code. */
export async function serviceRecords(at: Address, path: string, search = ''): Promise<Row[]> {
  const body = (await askService(at, path + search)) as Row[] | { results?: Row[]; data?: Row[] };
  return Array.isArray(body) ? body : (body.results ?? body.data ?? []);
}

const firstOf = async (at: Address, path: string): Promise<Row> =>
  (await serviceRecords(at, path, '?size=1'))[0] ?? {};

/** The first choice of every enumerated argument. */
function choices({ input }: AnyTool): Row {
  const entries = Object.entries(input.shape).map(([name, schema]) => {
    const { options } = schema as { options?: unknown[] };
    return [name, options?.[0]];
  });
  return Object.fromEntries(entries.filter(([, first]) => first !== undefined));
}
