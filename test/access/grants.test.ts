import { describe, expect, test } from 'vitest';
import { listings } from '../../src/mcp/listing.ts';
import { resourceTemplates } from '../../src/mcp/resources.ts';
import { isForView } from '../../src/mcp/surface.ts';
import { resources, routes } from '../../src/service/routes.ts';
import { grantNames } from '../../src/tenant/grants.ts';
import { prompts } from '../../src/tool-kit/prompts.ts';
import { catalog } from '../../tools/catalog.ts';
import {
  bearer,
  callerAt,
  callToolRequest,
  type Headers,
  send,
  startWithTokens,
} from '../support/access.ts';
import { putsOf } from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import fc from '../support/fast-check.ts';
import { type Caller, everything, type Row } from '../support/hosts.ts';
import { sampleFor, serviceRecords } from '../support/samples.ts';
import { shared } from '../support/shared.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

const { sandbox, address } = embeddedTenant({ scale: 0.1 });

/** A server with these grants, whose callers have those of their tokens. */
async function startGraded(grants: string = everything.grants) {
  const team = await startWithTokens(await address('all'), {
    CPQ_GRANTS: grants,
    CPQ_TOOLSETS: everything.toolsets,
    CPQ_WEBHOOK_SECRET: webhookSecret,
  });
  const made = new Map<string, Promise<string>>();
  return {
    ...team,
    /** Headers of a caller with these grants. */
    async as(wanted: string): Promise<Headers> {
      const name = wanted.replace(/[^a-z_]+/g, '.').slice(0, 60);
      const making = made.get(wanted) ?? team.add(name, '--grants', wanted);
      made.set(wanted, making);
      return bearer(await making);
    },
  };
}

const server = shared(() => startGraded());

/** A server with all collections and some events cached by a caller with all grants. */
const warm = shared(async () => {
  const team = await server();
  const at = await address('all');
  for (const subject of ['opportunity', 'quote', 'contact', 'company'] as const) {
    const [record] = await serviceRecords(at, `/${subject}`, '?size=1');
    const payload = { event: `${subject}.updated`, data: record };
    expect((await deliver(webhooksAt(team.url, 'default'), payload)).status).toBe(200);
  }
  const all = await team.as(everything.grants);
  for (const tool of catalog) {
    if (tool.needs.includes('opportunity:write')) continue;
    const args = tool.name.endsWith('sales_data')
      ? { check: 'stale_quotes' }
      : await sampleFor(tool, at);
    const { status } = await send(team, { headers: all, body: callToolRequest(tool.name, args) });
    expect(status).toBe(200);
  }
  return team;
});

/** Texts of the records of every other collection that do not occur in companies. */
const hidden = shared(async () => {
  const at = await address('all');
  const known = JSON.stringify(await serviceRecords(at, '/company', '?size=1000'));
  const others = resources.filter((name) => name !== 'company' && routes[name].path !== '/company');
  const texts = new Set<string>();
  for (const name of others) {
    const records = await serviceRecords(at, routes[name].path, '?size=1000');
    for (const row of records) for (const text of tellingOf(row)) texts.add(text);
  }
  return [...texts].filter((text) => !known.includes(text));
});

/** The values that identify a record. */
const tellingOf = ({ id, externalIdentifier, number, description, title, email }: Row): string[] =>
  [id, externalIdentifier, number, description, title, email]
    .map((it) => String(it ?? ''))
    .filter((text) => text.length >= 8);

const seenIn = async (text: string, given: string): Promise<string[]> =>
  (await hidden()).filter((one) => text.includes(one) && !given.includes(one));

describe('listed tools', () => {
  test.each([
    ['company:read'],
    ['quote:read,company:read'],
    ['opportunity:read'],
    ['read'],
    ['opportunity:write'],
  ])('for %s are those that it may use, in the usual order', async (grants) => {
    const team = await server();
    const granted = new Set(
      grants.includes('opportunity:write') ? [grants, 'opportunity:read'] : grants.split(','),
    );
    const mayUse = (needs: readonly string[]) =>
      needs.every((need) => granted.has(need) || (granted.has('read') && need.endsWith(':read')));
    const expected = listings
      .filter(({ needs, definition }) => mayUse(needs) && !isForView(definition))
      .map((it) => it.definition.name);
    for (const era of ['modern', 'legacy'] as const) {
      const { names, close } = await callerAt(team, await team.as(grants), { era });
      expect(await names()).toEqual(expected);
      await close();
    }
  });

  test('for a reading caller contain no tool that writes, and none can be called', async () => {
    const team = await server();
    const headers = await team.as('read');
    const { names, ask, client, close } = await callerAt(team, headers);
    expect(await names()).not.toContain('cpq_upsert_opportunity');
    expect(await names()).not.toContain('cpq_revert_change');
    const args = { external_id: 'not-to-be', create: true, name: 'Not to be' };
    for (const tool of ['cpq_upsert_opportunity', 'cpq_revert_change']) {
      await expect(ask(tool, args)).rejects.toThrow(/Unknown tool/);
      for (const body of [callToolRequest(tool, args), [callToolRequest(tool, args)]]) {
        const { text } = await send(team, { headers, body });
        expect(text).not.toMatch(/confirm|preview|written/i);
      }
    }
    expect(client.instructions()).toBeDefined();
    await close();
    expect(await putsOf(await sandbox())).toEqual([]);
  });

  test('for a caller are limited to the grants of the operator', async () => {
    const narrow = await startGraded('company:read');
    const writer = await callerAt(narrow, await narrow.as(everything.grants));
    const none = await callerAt(narrow, await narrow.as('quote:read'));
    expect(await writer.names()).toContain('cpq_list_companies');
    for (const { names, ask } of [writer, none]) {
      const listed = await names();
      for (const name of ['cpq_list_quotes', 'cpq_upsert_opportunity', 'cpq_list_changes']) {
        expect(listed).not.toContain(name);
      }
      expect((await ask('cpq_get_record', { resource: 'quote', id: 'a' })).isError).toBe(true);
    }
    expect(await none.names()).not.toContain('cpq_list_companies');
    const [company] = await serviceRecords(await address(), '/company', '?size=1');
    const asked = { resource: 'company', id: String(company?.id) };
    expect((await writer.ask('cpq_get_record', asked)).isError).toBe(false);
    expect((await none.ask('cpq_get_record', asked)).isError).toBe(true);
    await Promise.all([writer.close(), none.close()]);
  });
});

/** A caller that may read only companies, at a server that has cached everything else. */
const reader = shared(async (): Promise<Caller & { headers: Record<string, string> }> => {
  const team = await warm();
  const headers = await team.as('company:read');
  return { ...(await callerAt(team, headers)), headers };
});

describe('a caller that may only read companies', () => {
  test('sees nothing else through any tool and arguments', async () => {
    const team = await warm();
    const { headers } = await reader();
    const texts = await hidden();
    expect(texts.length).toBeGreaterThan(100);
    const value = fc.oneof(
      fc.constantFrom(...texts, ...resources, ...grantNames, '', '*', '..', '../quote', '%2e%2e'),
      fc.integer({ min: 0, max: 50 }),
      fc.constantFrom(true, false, null),
    );
    const argsOf = fc.constantFrom(...catalog).chain((tool) => {
      const names = Object.keys(tool.input.shape);
      const choices = (name: string) => (tool.input.shape[name] as { options?: unknown[] }).options;
      const one = (name: string) => {
        const options = choices(name);
        return options ? fc.oneof(fc.constantFrom(...options), value) : value;
      };
      const shape = Object.fromEntries(names.map((name) => [name, one(name)]));
      return fc.tuple(
        fc.constant(tool.name),
        fc.record(shape as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] }),
      );
    });
    await fc.assert(
      fc.asyncProperty(argsOf, async ([name, args]) => {
        const { status, text } = await send(team, { headers, body: callToolRequest(name, args) });
        expect([200, 400, 404]).toContain(status);
        expect(await seenIn(text, JSON.stringify(args))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test.each(catalog)('sees nothing else through $name', async (tool) => {
    const team = await warm();
    const { headers } = await reader();
    const isWrite = tool.needs.includes('opportunity:write');
    const args = isWrite ? {} : await sampleFor(tool, await address('all'));
    const body = callToolRequest(tool.name, args);
    const { text } = await send(team, { headers, body });
    expect(await seenIn(text, JSON.stringify(args))).toEqual([]);
    if (tool.name !== 'cpq_list_events') return;
    expect(text).toContain('company');
    // A caller with the grants gets it.
    const whole = await send(team, { headers: await team.as(everything.grants), body });
    expect(await seenIn(whole.text, '')).not.toEqual([]);
  });

  test.each(resources.filter((name) => name !== 'company'))(
    'gets the same answer for an existing %s as for a missing one',
    async (resource) => {
      const team = await warm();
      const { headers } = await reader();
      const at = await address('all');
      const [record] = await serviceRecords(at, routes[resource].path, '?size=1');
      const asking = async (id: unknown) => {
        const body = callToolRequest('cpq_get_record', { resource, id: String(id) });
        return (await send(team, { headers, body })).text;
      };
      const there = await asking(record?.id);
      expect(there).toContain('"isError":true');
      expect(there).toBe(await asking('NotThereNotThere0000'));
    },
  );
});

describe('resources and prompts of a caller that may only read companies', () => {
  test('is offered and can read no other resource', async () => {
    const { client } = await reader();
    expect(await client.request('resources/templates/list')).toMatchObject({
      resourceTemplates: [{ name: 'company' }, { name: 'export' }],
    });
    const at = await address('all');
    for (const { resource, uriTemplate } of resourceTemplates) {
      if (resource === 'company') continue;
      const [record] = await serviceRecords(at, routes[resource].path, '?size=1');
      const uri = uriTemplate.replace('{id}', String(record?.id));
      for (const written of [uri, uri.replace('cpq://', 'CPQ://'), `${uri}?a`, `${uri}/`]) {
        await expect(client.request('resources/read', { uri: written })).rejects.toThrow();
      }
    }
    for (const id of ['../quote/x', '%2e%2e%2fquote', '..', '.']) {
      const read = client.request('resources/read', { uri: `cpq://company/${id}` });
      await expect(read).rejects.toThrow();
    }
  });

  test('exports companies as a file, and nothing else', async () => {
    const { client } = await reader();
    const read = (address: string) =>
      client.request('resources/read', { uri: `cpq://export/${address}` });
    expect(await read('cpq_list_companies?size=2')).toMatchObject({
      contents: [{ mimeType: 'text/csv' }, {}],
    });
    for (const address of ['cpq_list_quotes', 'cpq_brief_pipeline', 'cpq_upsert_opportunity'])
      await expect(read(address)).rejects.toThrow(/No rows to export/);
    await expect(read('cpq_check_sales_data?check=stale_quotes')).rejects.toThrow(/not granted/);
  });

  test('is offered no prompt that needs more, and no completion of other names', async () => {
    const { client } = await reader();
    expect(await client.request('prompts/list')).toMatchObject({
      prompts: [{ name: 'brief-company' }],
    });
    const completed = async (ref: Row, name: string) => {
      const asked = { ref, argument: { name, value: '' } };
      const { completion } = await client.request('completion/complete', asked);
      return (completion as { values: string[] }).values;
    };
    for (const { name } of prompts.filter((prompt) => prompt.name !== 'brief-company')) {
      const given = { name, arguments: { quote: 'a', ask: 'a' } };
      await expect(client.request('prompts/get', given)).rejects.toThrow(/Unknown prompt/);
      for (const argument of ['quote', 'company', 'owner'])
        expect(await completed({ type: 'ref/prompt', name }, argument)).toEqual([]);
    }
    for (const { uriTemplate: uri } of resourceTemplates) {
      const values = await completed({ type: 'ref/resource', uri }, 'id');
      expect(values.length > 0).toBe(uri.includes('company'));
    }
  });
});

test('a caller with few grants does not change what others see', async () => {
  await reader();
  const team = await warm();
  const whole = await callerAt(team, await team.as('read'));
  const { data } = await whole.ask('cpq_brief_pipeline');
  expect(data.open).toMatchObject({ count: expect.any(Number) });
});
