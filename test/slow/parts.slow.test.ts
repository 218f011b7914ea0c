import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Connection, open, type Row } from '../support/hosts.ts';
import { listen } from '../support/local-server.ts';
import type { Address } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';

/** Large enough for contacts, opportunities, quotes, products and companies not to be read whole. */
const { sandbox, address: addressOf } = embeddedTenant({
  scale: 7,
  now: new Date('2026-03-04T10:00:00Z'),
});

interface Page {
  results: Row[];
  total: number;
}

/** What a service does otherwise than the documented one. */
interface Service {
  /** Changes the parameters of a list. */
  ask?: (search: URLSearchParams, path: string) => void;
  /** Changes the page of a list, given the parameters as they were sent. */
  answer?: (page: Page, search: URLSearchParams, path: string) => void;
  /** Whether it refuses a list. */
  refuses?: (search: URLSearchParams) => boolean;
}

/** Forwards requests to the sandbox, and counts them. */
async function startService({ ask, answer, refuses }: Service) {
  const address = await addressOf();
  let requests = 0;
  const server = await listen(async (request, response) => {
    requests += 1;
    const url = new URL(address.baseUrl + request.url);
    const sent = new URLSearchParams(url.search);
    const isList = /\/public-api\/[a-z-]+$/.test(url.pathname);
    if (isList) ask?.(url.searchParams, url.pathname);
    const upstream = await fetch(url, {
      headers: { 'api-key': address.key },
    });
    const body = (await upstream.json()) as Page;
    if (isList && upstream.ok && body.results) answer?.(body, sent, url.pathname);
    const isRefused = isList && refuses?.(sent);
    response.writeHead(isRefused ? 400 : upstream.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isRefused ? { message: 'property should not exist' } : body));
  });
  return {
    address: { baseUrl: closing(server).url, key: address.key } satisfies Address,
    take: () => {
      const taken = requests;
      requests = 0;
      return taken;
    },
  };
}

async function opened(service: Service) {
  const { address, take } = await startService(service);
  const server = await open({ at: address, env: { CPQ_RATE_LIMIT: '100000' } });
  return { server, take };
}

/** Of companies with quotes and open deals: what is asked, and the answers of a server that reads everything. */
const asked = shared(async () => {
  const { database, tenants } = await sandbox();
  const companies = database
    .prepare(
      `select c.id, c.name from company c where tenant = ?1
        and exists (select 1 from quote q where q.tenant = ?1 and q.companyId = c.id and q.deletedAt is null)
        and (select count(*) from company o where o.tenant = ?1 and o.name = c.name) = 1
        order by id limit 3`,
    )
    .all(tenants[0].name) as { id: string; name: string }[];
  const quotes = database
    .prepare(
      `select number from quote q where tenant = ?1 and deletedAt is null
        and (select count(*) from quote o where o.tenant = ?1 and o.number = q.number) = 1
        order by id limit 3`,
    )
    .all(tenants[0].name) as { number: string }[];
  return { companies, quotes };
});

const parts = ['contacts', 'opportunities', 'quotes', 'contracts', 'pricing', 'recent_activity'];

async function answersOf(server: Connection) {
  const { companies, quotes } = await asked();
  const answers: Row[] = [];
  for (const { name } of companies)
    answers.push((await server.call('cpq_brief_company', { company: name, parts, rows: 5 })).data);
  for (const { number } of quotes)
    answers.push((await server.call('cpq_brief_quote', { quote: number })).data);
  for (const list of ['cpq_list_pricing_books', 'cpq_list_discount_groups'])
    answers.push((await server.call(list, { size: 5 })).data);
  for (const { coverage } of answers) expect(coverage).toMatchObject({ complete: true });
  return answers.map(({ coverage: _, ...figures }) => figures);
}

const whole = shared(async () => {
  const { server, take } = await opened({
    ask: (search) => {
      search.delete('filters');
      search.delete('query');
    },
  });
  const answers = await answersOf(server);
  return { answers, requests: take() };
});

const services: Record<string, Service> = {
  'filters and searches': {},
  'ignores filters': { ask: (search) => search.delete('filters') },
  'refuses filters': { refuses: (search) => search.has('filters') },
  'ignores searches': { ask: (search) => search.delete('query') },
  'refuses searches': { refuses: (search) => search.has('query') },
  'finds nothing by text': {
    answer: (page, search) => {
      if (search.has('query')) Object.assign(page, { results: [], total: 0 });
    },
  },
  'finds other records too': {
    answer: (page, search, path) => {
      if (!search.get('filters')?.startsWith('company.id:') || path.endsWith('/product')) return;
      page.results = page.results.map((row, at) =>
        at === 0 ? { ...row, company: { id: 'another', name: 'Another' } } : row,
      );
    },
  },
  'leaves out what it finds for a filter': {
    answer: (page, search) => {
      if (!search.has('filters')) return;
      page.results.splice(0, 1);
      page.total -= 1;
    },
  },
  'does not count': { answer: (page) => Reflect.deleteProperty(page, 'total') },
};

describe('a question about a few records', () => {
  test.each(Object.entries(services))(
    'is answered as from everything: a service that %s',
    async (_, service) => {
      const { server } = await opened(service);
      expect(await answersOf(server)).toEqual((await whole()).answers);
    },
  );

  test('takes few requests where the service filters and searches', async () => {
    const { server, take } = await opened({});
    await answersOf(server);
    const first = take();
    expect((await whole()).requests).toBeGreaterThan(3 * first);
    const { companies } = await asked();
    await server.call('cpq_brief_company', { company: companies[0]?.id, parts });
    expect(take()).toBeLessThanOrEqual(1);
    const [word] = String(companies[0]?.name).split(' ');
    const { text } = await server.call('cpq_find', { query: word, kinds: ['company'] });
    expect(text).toContain('none matches exactly');
    expect(text).toContain('The service itself searched company');
  });

  test.each(['cpq_list_pricing_books', 'cpq_list_discount_groups'])(
    '%s reads the companies that it names',
    async (list) => {
      const { server, take } = await opened({});
      await server.call(list, { size: 5, fields: ['for'] });
      const all = await server.call('cpq_list_companies', { size: 1 });
      expect(take()).toBeLessThan(all.page.total / 100);
    },
  );

  test('about all quotes reads opportunities only for their states', async () => {
    const { server, take } = await opened({});
    const quotes = await server.call('cpq_brief_quotes', { size: 20 });
    const first = take();
    expect(quotes.text).toContain('The states of the opportunities are left out');
    expect(JSON.stringify(quotes.data)).not.toContain('dealState');
    const states = await server.call('cpq_brief_quotes', { size: 20, by: 'deal_state' });
    expect(take()).toBeGreaterThan(first / 2);
    expect(states.text).not.toContain('left out');
    expect(states.data).toMatchObject({
      total: quotes.data.total,
      unknown: quotes.data.unknown,
      acceptance: quotes.data.acceptance,
    });
    expect(JSON.stringify(states.data)).toContain('dealState');
  });
});
