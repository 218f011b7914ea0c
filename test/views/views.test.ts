import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, inject, test } from 'vitest';
import { catalog } from '../../tools/catalog.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everyHostHere, everything, open, type Row, serving } from '../support/hosts.ts';

const { address } = embeddedTenant({ as: 'all' });
const server = serving({ at: address, ...everything });
const inTwoMonths = new Date(Date.now() + 60 * 86_400_000).toISOString().slice(0, 10);
const viewed = catalog.filter(({ view, forView }) => view !== undefined && !forView);
const views = new Set(viewed.map(({ view }) => view ?? ''));
const uriOf = (view: string | undefined) => `ui://cpq-mcp/${view}.html`;
const fileOf = (view: string | undefined) =>
  readFile(join(dirname(inject('bundle')), 'views', `${view}.html`), 'utf8');

describe.each(everyHostHere.map((host) => [host.name, host] as const))('%s', (_name, host) => {
  const server = serving({ at: address, on: host, ...everything });

  test('has views for these tools alone', async () => {
    const tools = await server.tools();
    const pointing = tools.filter(({ _meta }) => _meta?.ui !== undefined);
    expect(pointing.map(({ name, _meta }) => [name, _meta])).toEqual(
      viewed.map(({ name, view }) => [name, { ui: { resourceUri: uriOf(view) } }]),
    );
  });

  test('lists and serves each view as a page that loads nothing of its own', async () => {
    const listedTools = await server.names();
    const { resources } = (await server.request('resources/list')) as { resources?: Row[] };
    for (const view of views) {
      const uri = uriOf(view);
      const listed = resources?.find((it) => it.uri === uri);
      const { contents } = (await server.request('resources/read', { uri })) as {
        contents?: Row[];
      };
      const [content] = contents ?? [];
      expect(content).toMatchObject({ uri, mimeType: 'text/html;profile=mcp-app' });
      expect(listed).toMatchObject({ mimeType: content?.mimeType });
      expect(content?._meta).toMatchObject({
        ui: { csp: { connectDomains: [], resourceDomains: [] } },
      });
      const page = await fileOf(view);
      const named = / name="tools" content="([^"]*)">/;
      const [, names = ''] = named.exec(String(content?.text)) ?? [];
      expect(content?.text).toBe(
        page
          .replace('name="tools" content="', `$&${names}`)
          .replace('name="made-up" content="', '$&false'),
      );
      // Of those that are listed, the ones that it can call.
      expect(names.split(' ')).toEqual(listedTools.filter((name) => page.includes(name)));
    }
  });
});

test('views of unlisted tools are not listed', async () => {
  const server = await open({ at: address, grants: 'company:read' });
  const { resources } = (await server.request('resources/list')) as { resources?: Row[] };
  expect(resources?.map(({ uri }) => uri)).toEqual(['cpq://definitions', uriOf('company')]);
  await server.close();
});

test('the reference to a view costs at most 25 tokens per tool', async () => {
  for (const tool of await server.tools()) {
    const { _meta, ...rest } = tool;
    const more = countTokens(JSON.stringify(tool)) - countTokens(JSON.stringify(rest));
    expect(more).toBeLessThanOrEqual(_meta?.ui ? 25 : 0);
  }
});

describe.each([...views])('the %s view', (view) => {
  test('weighs at most 37 kB as it is served', async () => {
    const served = await server.request('resources/read', { uri: uriOf(view) });
    const [{ text } = { text: undefined }] = (served as { contents?: Row[] }).contents ?? [];
    expect(gzipSync(String(text)).length).toBeLessThan(37_000);
  });

  test('has a content security policy without addresses but for fonts, and loads from none', async () => {
    const html = await fileOf(view);
    const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'sha256-[^']+';/);
    expect(policy).toContain('; font-src data: https:;');
    expect(policy.replace('font-src data: https:', '')).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)=/i);
    expect(html).not.toMatch(/@import|\burl\(\s*["']?https?:/i);
  });

  test('never turns text into HTML, and names no tool that writes but where it asks a person', async () => {
    const html = await fileOf(view);
    const asks = ['pipeline', 'changes', 'quotes', 'company'].includes(view);
    expect(html).not.toMatch(/dangerouslySetInnerHTML\s*:|document\.write|\beval\(|new Function/);
    for (const { name, hints, forView } of catalog) {
      if (forView && !hints.readOnlyHint)
        expect(html.includes(name)).toBe(asks || view === 'change');
      else if (name === 'cpq_upsert_opportunity') expect(html.includes(name)).toBe(asks);
      else if (!hints.readOnlyHint) expect(html).not.toContain(name);
    }
  });
});

describe('the deals of the board', () => {
  const allDeals = async (args: Row): Promise<Row[]> => {
    return (await server.call('cpq_pipeline_deals', { ...args, deals_from: 0, rows: 1000 }))
      .records;
  };

  const sums = (deals: Row[], field: string, times: (deal: Row) => number = () => 1) => {
    const sum: Record<string, number> = {};
    for (const deal of deals) {
      if (deal[field] === undefined) continue;
      const currency = String(deal.currency);
      sum[currency] = (sum[currency] ?? 0) + Number(deal[field]) * times(deal);
    }
    return sum;
  };

  test.each([{}, { owner: 'Karen Fitzgerald' }, { min_value: 50_000 }, { close_to: inTwoMonths }])(
    'are those that the brief counts: %j',
    async (args) => {
      const { open } = (await server.call('cpq_brief_pipeline', args)).data as { open: Row };
      const deals = await allDeals(args);
      expect(deals.length).toBeGreaterThan(0);
      expect(deals).toHaveLength(Number(open.count));
      expect(new Set(deals.map(({ id }) => id)).size).toBe(deals.length);
      expect(sums(deals, 'value')).toEqual(open.value);
      expect(sums(deals, 'oneTime')).toEqual(open.oneTime);
      expect(sums(deals, 'monthly')).toEqual(open.monthly);
      const weighted = sums(deals, 'oneTime', ({ probability = 0 }) => Number(probability));
      for (const [currency, amount] of Object.entries(open.weightedOneTime as Row)) {
        expect(weighted[currency]).toBeCloseTo(Number(amount), 1);
      }
    },
  );

  test('are none beyond the last, and the answer has their total', async () => {
    const { page, records, text } = await server.call('cpq_brief_pipeline', { deals_from: 9_000 });
    expect(records).toEqual([]);
    expect(page).toEqual({ shown: 0, from: 9_000, total: (await allDeals({})).length });
    expect(text).toContain(`None from 9000: there are ${page.total}.`);
  });
});
