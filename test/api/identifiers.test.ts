import { expect, test } from 'vitest';
import { resources, routes } from '../../src/service/routes.ts';
import fc, { codePoint } from '../support/fast-check.ts';
import { openTenant, sharedStateOf, toolCall } from '../support/hardening-tenant.ts';
import { everything, serving } from '../support/hosts.ts';
import { closing, shared } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** Identifiers become part of a path: none may lead to another route. */

const upstream = shared(async () => closing(await startUpstream({ counts: { '/company': 3 } })));
const tenant = shared(async () => closing(openTenant({ url: (await upstream()).url })));
const server = serving({ at: upstream, ...everything });

/** The path as a browser, or a proxy that decodes it first, normalises it. */
function normalised(path: string): string {
  const once = new URL(path, 'http://service.test').pathname;
  const decoded = once.replaceAll(/%25/g, '%').replaceAll(/%2f|%5c/gi, '/');
  return new URL(decoded, 'http://service.test').pathname;
}

const segmentsOf = (path: string): number => path.split('/').length;

const odd = [
  '.',
  '..',
  '%2e%2e',
  '%2E.',
  '../quote',
  'a/../../quote',
  '..\\quote',
  '..%2fquote',
  'a/..',
  ' ',
  '\ud800',
  'a'.repeat(10_000),
  '',
];

test.each(odd)('%j is not sent to any route', async (id) => {
  const { requests } = await upstream();
  for (const resource of resources) {
    for (const by of routes[resource].one) {
      const asked = (await tenant()).getRecord(resource, by, id, toolCall());
      await expect(asked).rejects.toMatchObject({ kind: 'not-found' });
    }
  }
  const write = sharedStateOf(await tenant()).client.upsertOpportunity(
    id,
    {},
    {
      ...toolCall(),
      purpose: 'interactive',
    },
  );
  await expect(write).rejects.toMatchObject({ kind: 'not-found' });
  expect(requests).toEqual([]);
});

test.each(['..', '%2e%2e', '../quote'])('%j is reported as a missing record', async (id) => {
  const words = await server.refused('cpq_get_record', { resource: 'company', id });
  expect(words).toContain('There is no such record');
  const uri = `cpq://quote/${encodeURIComponent(id)}`;
  await expect(server.request('resources/read', { uri })).rejects.toThrow(
    'There is no such record',
  );
  const refusal = await server.refused('cpq_upsert_opportunity', { external_id: id, name: 'A' });
  expect(refusal).toContain('cannot be an identifier');
  const paths = (await upstream()).requests.map(({ path }) => path);
  expect(paths.filter((path) => path !== '/public-api/quote')).toEqual([]);
});

const pieces = fc.constantFrom(
  '.',
  '..',
  '/',
  '\\',
  '%2e',
  '%2F',
  '%',
  '?',
  '#',
  ';',
  ' ',
  'a',
  'é',
);
const identifiers = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.array(pieces, { maxLength: 6 }).map((all) => all.join('')),
);

test('any other identifier is one path segment, and is decoded unchanged', async () => {
  const { requests } = await upstream();
  const { client } = sharedStateOf(await tenant());
  await fc.assert(
    fc.asyncProperty(identifiers, async (id) => {
      requests.length = 0;
      const call = { ...toolCall(), purpose: 'interactive' } as const;
      await expect(client.getRecord('company', 'id', id, call)).rejects.toMatchObject({
        kind: 'not-found',
      });
      for (const { path } of requests) {
        const [last = ''] = path.split('/').slice(-1);
        expect(decodeURIComponent(last)).toBe(id);
        expect(segmentsOf(path)).toBe(segmentsOf('/public-api/company/id'));
        expect(normalised(path).startsWith('/public-api/company/')).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});
