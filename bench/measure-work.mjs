import { tokensOfResult, wire, withServer } from './measure-tokens.mjs';
import { RecordedService } from './recorded-service.mjs';

/** The company with the most quotes among the first hundred. */
async function busiestCompany(tenant) {
  const { results } = JSON.parse(await wire(tenant, '/quote?size=100'));
  const counts = new Map();
  for (const { company } of results) {
    if (company?.id) counts.set(company.id, (counts.get(company.id) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0][0];
}

/** Asks one question twice: what it costs without and with a warm cache. */
async function asked(candidates, env, service, { name, args }) {
  return withServer(candidates, env, async (client) => {
    const { result } = JSON.parse(await client.request('tools/list'));
    if (!result.tools.some((tool) => tool.name === name)) return undefined;
    service.take();
    const answer = await client.call(name, args);
    const { requests: cold, repeated } = service.take();
    await client.call(name, args);
    const { coverage, summary } = answer.structuredContent;
    if (!coverage.complete) throw new Error(`${name}: ${JSON.stringify(coverage)}`);
    return {
      summary,
      calls: 1,
      tokens: tokensOfResult(answer),
      cold,
      repeated,
      warm: service.take().requests,
    };
  });
}

/** @returns the cost of one question, or undefined if there is no tool for it */
async function question(candidates, settingsFor, tenant, call) {
  const service = await RecordedService.start(tenant);
  try {
    const env = settingsFor(service.baseUrlOf('tenant'), tenant.key);
    return await asked(candidates, env, service, call);
  } finally {
    service.close();
  }
}

/** `pipeline` holds a thousand opportunities, `catalogue` five thousand products. */
export async function measureWork(candidates, settingsFor, { pipeline, catalogue }) {
  const company = await busiestCompany(pipeline);
  const ask = (tenant, name, args) => question(candidates, settingsFor, tenant, { name, args });
  return {
    pipeline: await ask(pipeline, 'cpq_brief_pipeline', { by: 'stage' }),
    company: await ask(pipeline, 'cpq_brief_company', { company, parts: ['quotes'] }),
    underCost: await ask(catalogue, 'cpq_check_sales_data', { check: 'below_cost' }),
  };
}
