import { afterEach, describe, expect, test, vi } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { anyOpportunity, editRecord, openWriter, putsOf, type Writer } from '../support/consent.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { newFolder, shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.2 }));
const at = async () => addressIn(await sandbox(), 'all');
const writer = shared(async () => openWriter(await at()));
const opportunity = shared(async () => anyOpportunity(await at()));
const puts = async () => (await putsOf(await sandbox())).length;

afterEach(() => {
  vi.useRealTimers();
});

/** A change that no other test of this file makes. */
let count = 0;
const another = async () => {
  count += 1;
  return { opportunity_id: (await opportunity()).id, name: `Named for the ${count}. time` };
};

async function previewed(from: Writer, args: Record<string, unknown>): Promise<string> {
  const { outcome, confirm } = await from.upsert(args);
  expect(outcome).toBe('not_asked');
  if (confirm === undefined) throw new Error('no token');
  return confirm;
}

describe('a host that cannot ask', () => {
  test('gets a preview and a token, and nothing is written', async () => {
    const it = await writer();
    const args = await another();
    const before = await puts();
    const { outcome, preview, text, changes, confirm } = await it.upsert(args);
    expect(outcome).toBe('not_asked');
    expect(text).toMatch(/^Nothing was written to .* yet: nobody was asked/);
    expect(preview).toContain(`→ “${args.name}”`);
    expect(preview).toMatch(/Every other field stays as it is/);
    expect(changes).toMatchObject([{ field: 'name', to: args.name }]);
    expect(confirm).toBeTypeOf('string');
    expect(await puts()).toBe(before);
  });

  test('gets the same preview of right-to-left text as in a question', async () => {
    const it = await writer();
    const { preview, confirm } = await it.upsert({ ...(await another()), name: 'שלום' });
    expect(preview).toContain('→ \u2068“שלום”\u2069\n');
    expect(preview).not.toContain('invisible');
    await it.upsert({ ...(await another()), name: 'שלום', confirm });
  });

  test('is recorded with its client where it writes with the token', async () => {
    const it = await writer();
    const args = await another();
    await it.upsert({ ...args, confirm: await previewed(it, args) });
    const [sending] = (await it.journal()).filter(({ phase }) => phase === 'sending').slice(-1);
    expect(sending).toMatchObject({ consent: 'token', client: 'consent-tests 1' });
  });

  test('is told to ask again without the token where the record has changed', async () => {
    const it = await writer();
    const args = await another();
    const confirm = await previewed(it, args);
    const { externalIdentifier } = await opportunity();
    await editRecord(await at(), externalIdentifier, { name: 'Meanwhile' });
    // The token would only be refused again.
    const { outcome, text } = await it.upsert({ ...args, confirm });
    expect([outcome, text]).toEqual(['moved', expect.stringContaining('without confirm')]);
    const again = await another();
    const token = await previewed(it, again);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60_000 + 1 });
    const late = await it.upsert({ ...again, confirm: token });
    expect(late.text).toMatch(/older than ten minutes.*without confirm/s);
  });
});

describe('CPQ_CONSENT=ask', () => {
  test('offers no token and accepts none', async () => {
    const state = localState(newFolder());
    const strict = await openWriter(await at(), { state, consent: 'ask' });
    const lax = await openWriter(await at(), { state });
    const args = await another();
    const answer = await strict.upsert(args);
    expect(answer).toMatchObject({ outcome: 'not_asked', isError: false });
    expect(answer.text).toMatch(/nobody was asked, because .*CPQ_CONSENT=ask/);
    expect(answer).not.toHaveProperty('confirm');
    const before = await puts();
    const again = await strict.upsert({ ...args, confirm: await previewed(lax, args) });
    expect(again.outcome).toBe('not_asked');
    expect(await puts()).toBe(before);
  });
});
