// How many requests to the service a question takes, asked of a server that knows nothing yet.
import { callTool, open } from './http-client.mjs';
import { wire } from './measure-tokens.mjs';
import { stopProcess } from './processes.mjs';
import { RecordedService } from './recorded-service.mjs';

/** Each question: the tool, its arguments, and the most requests that it may take. */
const questions = {
  'company brief': ['cpq_brief_company', ({ company }) => ({ company: company.name }), 20],
  'company brief, by id': ['cpq_brief_company', ({ company }) => ({ company: company.id }), 20],
  'quote brief': ['cpq_brief_quote', ({ quote }) => ({ quote: quote.number }), 14],
  'price of a product': [
    'cpq_price_product',
    ({ company, product }) => ({ company: company.name, product: product.mpn }),
    12,
  ],
  'find a name': ['cpq_find', ({ company }) => ({ query: company.name }), 12],
  'find a part number': ['cpq_find', ({ product }) => ({ query: product.mpn }), 12],
  'a filter that matches nothing': [
    'cpq_list_products',
    () => ({ filters: 'mpn:QX-0815-NONE' }),
    2,
  ],
  'one record': ['cpq_get_record', ({ quote }) => ({ resource: 'quote', id: quote.id }), 1],
  'pipeline brief': ['cpq_brief_pipeline', () => ({ by: 'stage' }), 155],
  'all quotes by status': ['cpq_brief_quotes', () => ({ by: 'status' }), 115],
};

/** A quote with a company and a product, and these. */
async function subjectsOf(tenant) {
  const read = async (path) => JSON.parse(await wire(tenant, path));
  const { results } = await read('/quote?size=100');
  const quote =
    results.find(
      (each) =>
        each.status === 'Draft' && each.opportunity?.id && each.items?.some(({ mpn }) => mpn),
    ) ?? results.find((each) => each.company?.id && each.items?.some(({ mpn }) => mpn));
  const item = quote.items.find(({ mpn }) => mpn);
  const company = await read(`/company/${quote.company.id}`);
  return { quote, company, product: { mpn: item.mpn } };
}

/** @returns a measurement for each question: its requests, the most that are allowed, and what the answer covers */
export async function measureRequests(cpq, settingsFor, tenant) {
  const service = await RecordedService.start(tenant);
  try {
    const env = settingsFor(service.baseUrlOf('tenant'), tenant.key);
    const subjects = await subjectsOf(tenant);
    const measured = [];
    for (const [what, [tool, argsOf, limit]] of Object.entries(questions)) {
      const server = await open(cpq, env, 1);
      try {
        service.take();
        const { result } = await callTool(server, tool, argsOf(subjects));
        const { coverage } = result.structuredContent;
        measured.push({ what, limit, requests: service.take().requests, coverage });
      } finally {
        await stopProcess(server.child);
        await server.pool.destroy();
      }
    }
    return measured;
  } finally {
    service.close();
  }
}
