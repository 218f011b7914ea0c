import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ChangeCall } from '../../src/changes/consent.ts';
import { textOf, toResult } from '../../src/mcp/results.ts';
import type { SurfaceEntry } from '../../src/mcp/surface.ts';
import { type CallParts, runTool } from '../../src/mcp/tool-run.ts';
import { type Wording, wording } from '../../src/text/untrusted-text.ts';
import type { Answer } from '../../src/tool-kit/define-tool.ts';
import { answerWithRows, limitLists } from '../../src/tool-kit/rows.ts';

const words = (count: number, letter = 'a') => `${letter.repeat(4)} `.repeat(count).trim();
const coverage = { complete: true, read: 9, total: 9, asOf: new Date().toISOString() };
const summary: Wording = wording`Nine records.`;

interface Written {
  page: { shown: number; from: number; total: number; next?: number };
  records: unknown[];
  list: { shown: number; total: number; rows: unknown[] };
  notes?: string[];
  [field: string]: unknown;
}
const written = async (answer: Answer): Promise<Written & { text: string }> => {
  const { structuredContent, content } = await toResult(answer);
  const text = content[0]?.type === 'text' ? content[0].text : '';
  return { ...(structuredContent as Written), text };
};

/** Rows of 500 tokens each. */
const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ at, text: words(250) }));
const listOf = (shown: number) => ({ shown, total: 90, rows: rows(shown) });

describe('an answer that is too long', () => {
  test('is made again with fewer rows, and counts those', async () => {
    const answer = answerWithRows(50, (count) => ({ summary, data: { list: listOf(count) } }));
    const { list, notes } = await written(answer);
    expect(list.rows.length).toBeGreaterThan(10);
    expect(list.shown).toBe(list.rows.length);
    expect(notes).toEqual([`Cut to ${list.shown} rows: more would be too long to read.`]);
  });

  test('is filled with rows up to its aim, without a note', async () => {
    const of = (aim: number) =>
      written(answerWithRows(50, (count) => ({ summary, data: limitLists(lists, count) }), aim));
    const lists = { list: listOf(50) };
    const [small, large] = [await of(2_000), await of(5_000)];
    expect(small.list.shown).toBeGreaterThan(1);
    expect(large.list.shown).toBeGreaterThan(small.list.shown);
    expect(small.list.rows).toHaveLength(small.list.shown);
    expect([small.notes, large.notes]).toEqual([undefined, undefined]);
  });

  test('has one row where its aim has room for none', async () => {
    const answer = answerWithRows(5, (count) => ({ summary, data: { list: listOf(count) } }), 50);
    expect((await written(answer)).list).toMatchObject({ shown: 1, total: 90 });
  });

  test('has its lists cut where no rows can be left out, and counts what is left', async () => {
    const { list, notes } = await written({ summary, data: { list: listOf(50) } });
    expect(list.rows.length).toBeLessThan(50);
    expect(list.shown).toBe(list.rows.length);
    expect(list.total).toBe(90);
    expect(notes?.[0]).toMatch(/^Cut: lists inside are shown up to \d+ entries/);
  });

  test('says the next page where records were cut', async () => {
    const page = { shown: 50, from: 10, total: 90, next: 60 };
    const { page: left, records } = await written({ summary, data: { records: rows(50), page } });
    expect(records.length).toBeLessThan(50);
    expect(left).toEqual({ ...page, shown: records.length, next: 10 + records.length });
  });

  test('as the last resort says so, with a coverage and a page that are true', async () => {
    const fields = Array.from({ length: 200 }, (_, at) => [`field${at}`, words(120)]);
    const page = { shown: 5, from: 0, total: 9, next: 5 };
    const record = Object.fromEntries(fields);
    const data = { record, records: rows(5), page, coverage, resource: 'company' };
    const told = await written({ summary, data });
    expect(told).toMatchObject({ summary, coverage, record: {}, records: [], resource: 'company' });
    expect(told.page).toEqual({ shown: 0, from: 0, total: 9 });
    expect(told.notes).toEqual(['Too long to show: ask for less at once.']);
    expect(told.text).toContain('Too long to show: ask for less at once.');
  });
});

describe('the notes of an answer', () => {
  const data = { coverage: { ...coverage, complete: false, read: 5 }, list: listOf(50) };
  const notes = [wording`Beta: may change.`];
  const answer = { summary, data, notes, unknownCurrencies: 3 };
  const fields = Array.from({ length: 200 }, (_, at) => [`field${at}`, words(120)]);
  const keptRows = (size: number, aim?: number) =>
    answerWithRows(
      50,
      (count) => ({
        ...answer,
        data: {
          ...data,
          list: { rows: rows(count).map((row) => ({ ...row, more: words(size) })) },
        },
      }),
      aim,
    );
  const cuts: Record<string, Answer> = {
    'is whole': { ...answer, data: { ...data, list: listOf(1) } },
    'has fewer rows': keptRows(1),
    'has as many rows as its aim': keptRows(1, 2_000),
    'has one row, cut inside': keptRows(40_000),
    'has its lists cut': answer,
    'is too long to show': { ...answer, data: { ...data, record: Object.fromEntries(fields) } },
  };

  test.each(Object.entries(cuts))('are all there in both forms where it %s', async (_, given) => {
    const tool = { input: z.object({}), toolset: 'briefs', run: async () => given };
    const definition = { name: 'cpq_brief', inputSchema: {} };
    const entry = { definition, tool } as unknown as SurfaceEntry;
    const parts = { isMadeUp: true, surface: { list: [] } } as unknown as CallParts;
    const signal = new AbortController().signal;
    const result = await runTool(entry, parts, { given: {}, signal }, () => ({}) as ChangeCall);
    const data = result.structuredContent as { notes: string[]; summary: string };
    const told = [textOf(result), data.notes.join('\n')];
    for (const form of told) {
      expect(form).toContain('Made-up data of the embedded tenant.');
      expect(form).toContain('Beta: may change.');
      expect(form).toContain('The currency of 3 rows is unknown.');
    }
    for (const form of [told[0], data.summary])
      expect(form).toMatch(/^Incomplete: only 5 of 9 records could be read\. Nine records\./);
  });
});
