import { describe, expect, test } from 'vitest';
import {
  answerSlowly,
  openWriter,
  personAnswers,
  putsOf,
  sandboxToWrite,
} from '../support/consent.ts';
import fc from '../support/fast-check.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';

const { sandbox, at, opportunity, now, puts } = sandboxToWrite();
/** Caches nothing: changes of the database count at once. */
const fresh = { tenant: { freshMs: 0 } };
const writer = shared(async () => openWriter(await at(), fresh));
const change = async (args: Row) =>
  (await writer()).upsert({ opportunity_id: (await opportunity()).id, ...args });

let made = 0;
async function put(table: string, row: Row): Promise<string> {
  const { database, tenants } = await sandbox();
  made += 1;
  const id = `Alike${String(made).padStart(15, '0')}`;
  const all: Row = { tenant: tenants[0].name, id, ...row };
  const marks = Object.keys(all).map(() => '?');
  const sql = `insert into ${table} (${Object.keys(all).join(', ')}) values (${marks.join(', ')})`;
  database.prepare(sql).run(...(Object.values(all) as string[]));
  return id;
}

/** Every field for text, with the position of the character in it. */
const places: readonly [string, (text: string) => Row][] = [
  ['name', (text) => ({ name: text })],
  ['description', (text) => ({ description: text })],
  ['custom_fields', (text) => ({ custom_fields: [`region=${text}`] })],
  ['custom_fields', (text) => ({ custom_fields: [`${text}=North`] })],
];

describe('an invisible character in a value to write', () => {
  test.each([
    ['\u200b', 'U\\+200B'],
    ['\u202e', 'U\\+202E'],
    ['\u2800', 'U\\+2800'],
    ['\ufe01', 'U\\+FE01'],
    ['\u{e0041}', 'U\\+E0041'],
    ['\u001b', 'U\\+001B'],
    ['\ud800', 'U\\+D800'],
  ])('%j is refused with its name and position', async (character, name) => {
    for (const [field, args] of places) {
      const { text, isError } = await change(args(`Eight${character}een`));
      expect(isError).toBe(true);
      expect(text).toMatch(new RegExp(`^${field}: must not contain ${name}.*at position \\d+`));
    }
    const { text } = await change({ name: `Eight${character}een` });
    expect(text).toContain('at position 6');
    expect(text.isWellFormed()).toBe(true);
  });

  test.each(['external_id', 'opportunity_id'])('is refused in %s', async (field) => {
    const { text, isError } = await (await writer()).upsert({ [field]: 'A\ufe0fB', name: 'x' });
    expect(isError).toBe(true);
    expect(text).toMatch(new RegExp(`^${field}: .*U\\+FE0F, at position 2`));
  });

  test('a line break is refused in a name, but not in a description', async () => {
    expect((await change({ name: 'One\ntwo' })).text).toContain('U+000A, at position 4');
    expect((await change({ description: 'One\n\ttwo\r\nthree' })).outcome).toBe('not_asked');
  });

  test('nothing was sent', async () => {
    expect(await puts()).toBe(0);
  });

  test.each([
    'عقد طباعة لـ ٦٨ جهازًا',
    'חוזה הדפסה',
    'می\u200cخواهم',
    'Launch 👩🏽\u200d💻 ❤\ufe0f 1\ufe0f\u20e3',
    'Müller façade',
    '見積書',
  ])('%j is written unchanged', async (name) => {
    const accepting = await openWriter(await at(), { ...fresh, person: personAnswers.accepts });
    const { id } = await opportunity();
    const answer = await accepting.upsert({ opportunity_id: id, name });
    expect(answer.outcome).toBe('written');
    expect((await now()).name).toBe(name);
  });
});

describe('an external identifier that looks like an existing one', () => {
  const create = async (external_id: string) =>
    (await writer()).upsert({ external_id, create: true, name: 'Second' });
  const taken = shared(async () => {
    await put('opportunity', { name: 'First', externalIdentifier: 'OPP-2011' });
    return 'OPP-2011';
  });

  test('is refused with blanks around it, and the other one is named', async () => {
    const existing = await taken();
    const { text, isError, confirm } = await create(`\u00a0${existing}\u2003`);
    expect({ isError, confirm }).toEqual({ isError: true, confirm: undefined });
    expect(text).toMatch(/^Nothing was written\. /);
    expect(text).toContain(`"${existing}"`);
    expect(text).toContain('First');
  });

  test('is refused when the existing one contains an invisible character', async () => {
    await put('opportunity', { name: 'Hidden', externalIdentifier: 'SEEN\u3164-1\ufe01' });
    expect((await create('SEEN-1')).text).toContain('Hidden');
  });

  test('is refused when the other one is created while the person is asked', async () => {
    const asked = await openWriter(await at(), {
      ...fresh,
      person: answerSlowly(async () => {
        await put('opportunity', { name: 'Faster', externalIdentifier: 'RАCE-1' });
        return personAnswers.accepts();
      }),
    });
    const answer = await asked.upsert({ external_id: 'RACE-1', create: true, name: 'Slower' });
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toContain('Faster');
    const sent = putsOf(await sandbox());
    expect(sent.filter(({ path }) => path.includes('RACE'))).toEqual([]);
  });

  test('is accepted when it only resembles one loosely', async () => {
    expect((await create('OPP-2O12')).outcome).toBe('not_asked');
    expect((await create('OPP-20111')).outcome).toBe('not_asked');
  });

  test('is refused for any substituted letters', async () => {
    const existing = await taken();
    const lookAlikes: Readonly<Record<string, string>> = {
      O: 'oоОΟ０',
      P: 'pрРΡᏢ',
      '-': '‐–−',
      2: '２𝟚',
      0: 'OО',
      1: 'lІ１',
    };
    const disguised = fc
      .tuple(...Array.from(existing, (it) => fc.constantFrom(it, ...(lookAlikes[it] ?? ''))))
      .map((letters) => letters.join(''))
      .filter((text) => text !== existing);
    await fc.assert(
      fc.asyncProperty(disguised, async (external_id) => {
        const { text, confirm } = await create(external_id);
        expect(confirm).toBeUndefined();
        expect(text).toContain(`"${existing}"`);
      }),
      { numRuns: quickOrAll(6, 30) },
    );
  });
});
