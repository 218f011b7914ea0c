import { describe, expect, test } from 'vitest';
import { type Choices, type Service, startService } from '../support/compatibility/service.ts';
import { variations } from '../support/compatibility/variations.ts';
import { closing, shared } from '../support/shared.ts';

/** The test service does what its switches say. */

const start = async (set: Choices) => closing(await startService(set));

async function ask({ url, key }: Service, path: string, body?: unknown) {
  const headers = { 'api-key': key };
  const init = body ? { method: 'PUT', headers, body: JSON.stringify(body) } : { headers };
  const response = await fetch(`${url}/public-api${path}`, init);
  const rate = response.headers.get('x-ratelimit-remaining');
  const list = (await response.json()) as { total?: number; results?: { id: string }[] };
  return { status: response.status, rate, body: list };
}

const requests = [
  '/company?size=2',
  '/contact?size=2',
  '/opportunity?size=100',
  '/opportunity?size=2&from=4',
  '/opportunity?size=40&from=40',
  '/opportunity?size=5&filters=statusId:won',
  '/opportunity?size=5&filters=pipelineStage.name:Proposal',
  '/product?size=5&query=router',
  '/product?size=5&sort=-price',
  '/product?size=1',
  '/quote?size=3',
  '/quote/malformed',
  '/category?size=4&from=2',
  '/opportunity?size=80',
];

/** Writes only a name, and only another company. */
async function write(service: Service) {
  const [deal, other] = service.storedData['/opportunity'];
  const body = { name: deal?.name, companyId: other?.company?.id };
  const stored = await ask(service, `/opportunity/ext/${deal?.externalIdentifier}`, body);
  return { ...stored, now: service.storedData['/opportunity'][0] };
}

async function everything(service: Service): Promise<string[]> {
  const replies: unknown[] = [];
  for (const path of requests) replies.push(await ask(service, path));
  replies.push(await write(service));
  // Without times, which differ between two services whatever the switch.
  return replies.map((reply) =>
    JSON.stringify(reply).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'some time'),
  );
}

const asDocumented = shared(async () => everything(await start({})));

describe('a variation', () => {
  test.each(variations.slice(1))('$name is visible in the answers', async ({ set }) => {
    expect(await everything(await start(set))).not.toEqual(await asDocumented());
  });

  test('of nothing is not visible', async () => {
    expect(await everything(await start({}))).toEqual(await asDocumented());
  });

  const combined = variations.filter(({ set }) => Object.keys(set).length > 1);
  // What a write does with what it leaves out is in no answer to a read.
  const isRead = (name: string) => name !== 'omitted';
  test.each(combined)('$name is visible in each of its choices', async ({ set }) => {
    const answers = await everything(await start(set));
    for (const name of Object.keys(set).filter(isRead)) {
      const others = { ...set, [name]: undefined };
      expect(await everything(await start(others)), name).not.toEqual(answers);
    }
  });
});

describe('the documented service', () => {
  test('counts, cuts, filters and sorts', async () => {
    const service = await start({});
    const { body } = await ask(service, '/opportunity?size=3&from=2&filters=statusId:won');
    const won = service.storedData['/opportunity'].filter(({ statusId }) => statusId === 'won');
    expect(body.total).toBe(won.length);
    expect(body.results?.map(({ id }) => id)).toEqual(won.slice(2, 5).map(({ id }) => id));
  });

  test('answers nobody without the key', async () => {
    const service = await start({});
    expect((await ask({ ...service, key: 'wrong' }, '/company')).status).toBe(403);
  });
});
