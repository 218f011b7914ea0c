import { expect, test, vi } from 'vitest';
import { KeptTraits } from '../../src/reading/kept-traits.ts';
import { ServicePages } from '../../src/reading/service-pages.ts';
import { localState } from '../../src/state/files/local.ts';
import { newFolder } from '../support/shared.ts';

/** What one process has learnt of a service, another one knows from its first question on. */

const unanswered = () => Promise.reject(new Error('no request is expected'));

async function processIn(folder: string, reader = 'reader') {
  const pages = new ServicePages({ page: unanswered, pageParam: 'from' });
  const { collections } = localState(folder);
  if (!collections) throw new Error('nothing is kept');
  const kept = new KeptTraits(pages, { collections, tenant: 'abcdef0123456789', reader });
  await kept.load();
  return { pages, save: () => kept.save() };
}

test('a second process knows what the first has learnt, but of no other key', async () => {
  const folder = newFolder();
  const [first, early] = [await processIn(folder), await processIn(folder)];
  first.pages.learnHonoured('quote', 'part company.id', true);
  first.pages.learn('quote', { pages: 110, maxSize: 25 });
  await first.save();
  early.pages.learnHonoured('quote', 'query', false);
  early.pages.learn('product', { pages: 'uncounted' });
  await early.save();
  const { pages } = await processIn(folder);
  const { honoured, ...traits } = pages.traits('quote');
  expect(honoured).toEqual({ 'part company.id': true, query: false });
  expect(traits).toMatchObject({ pages: 110 });
  expect(traits).not.toHaveProperty('maxSize');
  expect(pages.traits('product').pages).toBe('uncounted');
  const other = await processIn(folder, 'other');
  expect(other.pages.traits('quote').honoured).toEqual({});
});

test('it is learnt again after a day, however often processes start', async () => {
  const folder = newFolder();
  const now = Date.now();
  const start = async (hours: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: now + hours * 3_600_000 });
    const { pages, save } = await processIn(folder);
    pages.learn('company', { pages: hours });
    await save();
    return pages.traits('quote').honoured;
  };
  try {
    const { pages, save } = await processIn(folder);
    pages.learnHonoured('quote', 'query', true);
    await save();
    expect(await start(20)).toEqual({ query: true });
    expect(await start(25)).toEqual({});
  } finally {
    vi.useRealTimers();
  }
});
