/** Arguments and outputs that tools share. */

import * as z from 'zod';
import { dayOf } from '../figures/days.ts';

const size = z.int().min(1).max(100).default(20);
const from = z.int().min(0).max(1_000_000).default(0);
const detail = z.enum(['concise', 'full']).default('concise');
const fields = z.array(z.string()).optional();
const query = z.string().max(500).optional();
const filters = z.string().max(2_000).optional().describe('key:a|b');
const sort = z.string().max(200).optional().describe('-key');

export const listInput = { size, from, detail, fields };
export const searchInput = { size, from, query, filters, sort, detail, fields };
/** Arguments of lists that the service cannot search. */
export const filterInput = { size, from, filters, sort, detail, fields };

/** A name or an id. */
export const nameOfRecord = z.string().trim().min(1).max(200);
/** A name or an id by which records are filtered. */
export const nameFilter = nameOfRecord.optional();

/** An existing calendar day: 2026-02-30 is refused. For arguments whose name, or another one, says how it is written. */
export const plainDay = z
  .string()
  .refine(isDay, 'must be a date that exists, as YYYY-MM-DD')
  .optional();
export const day = plainDay.describe('YYYY-MM-DD');

/** Filters of deals: names as of `nameFilter`, and the expected close date. */
export const dealFilterInput = {
  owner: nameFilter,
  company: nameFilter,
  stage: nameFilter,
  category: nameFilter,
  source: nameFilter,
  currency: nameFilter,
  close_from: plainDay,
  close_to: plainDay,
};

function isDay(text: string): boolean {
  return dayOf(text) === text;
}

/** Two arguments, the first and the last day; without the second the period ends on the day that is given here. */
type Period = readonly [from: string, to: string, defaultEnd?: () => string];

/** Refuses periods whose first day is after the last. */
export const inOrder = <Input extends z.ZodObject>(
  input: Input,
  ...periods: readonly Period[]
): Input =>
  periods.reduce(
    (checked, [from, to, defaultEnd]) =>
      checked.refine((args) => !isAfter(args[from], args[to] ?? defaultEnd?.()), {
        path: [from],
        message: `must not be after ${to}${defaultEnd ? ', which is today unless it is given' : ''}`,
      }),
    input,
  );

const isAfter = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string' && isDay(one) && isDay(other) && one > other;

const count = z.int();

/** Loose, because it can have `fields`. */
export const coverage = z.looseObject({
  complete: z.boolean(),
  read: count,
  total: count,
  asOf: z.string(),
  reason: z.string().optional(),
});
const page = z.object({ shown: count, from: count, total: count, next: count.optional() });
const anyRecord = z.record(z.string(), z.unknown());
export const records = z.array(anyRecord);

export const listOutput = { records, page, coverage };
