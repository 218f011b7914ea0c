import { expect, test } from 'vitest';
import type { ApiError } from '../../src/service/errors.ts';
import { readOne, readPage } from '../../src/service/response.ts';

/** What is read of a body: the names of its records, and what it says of the count; or the kind of the error. */
function pageOf(body: unknown, status = 200, headers = {}): unknown {
  try {
    const page = readPage(body, { host: 'h', status }, { headers });
    const { records, total, countIsLimit } = page;
    const names = records.map(({ name }) => name).join('');
    return [names, countIsLimit ? 'limit' : (total ?? 'no total')];
  } catch (error) {
    return (error as ApiError).kind;
  }
}

function oneOf(body: unknown): unknown {
  try {
    return readOne(body, { host: 'h', path: '/company/1' }).name;
  } catch (error) {
    return (error as ApiError).kind;
  }
}

const a = { id: '1', name: 'a' };
const b = { id: '2', name: 'b' };
const nested = (depth: number, inner: unknown): unknown =>
  depth === 0 ? inner : nested(depth - 1, { data: inner });

const pages: [body: unknown, expected: unknown][] = [
  [
    [a, b],
    ['ab', 'no total'],
  ],
  [[], ['', 'no total']],
  [{ results: [a], total: 5 }, ['a', 5]],
  [{ results: [a], total: 0 }, ['a', 'no total']],
  [{ results: [a], total: 1, meta: { total: 7 } }, ['a', 7]],
  [{ hits: { total: { value: 5, relation: 'eq' }, hits: [a] } }, ['a', 5]],
  [{ hits: { total: { value: 5, relation: 'gte' }, hits: [a] } }, ['a', 'no total']],
  [{ results: null, total: 0 }, ['', 0]],
  [{ results: null }, 'unexpected'],
  [nested(3, [a]), ['a', 'no total']],
  [nested(4, [a]), 'unexpected'],
  [{ things: [a, b] }, ['ab', 'no total']],
  [{ things: [a], others: [] }, 'unexpected'],
  [{ things: [a, 1] }, 'unexpected'],
  [{ things: [] }, 'unexpected'],
  [{ message: 'No', things: [a] }, 'unexpected'],
  ['text', 'unexpected'],
  // The service says that its answer is not whole.
  [{ results: [a], total: 1, errors: ['timeout'] }, ['a', 'limit']],
  [{ results: [a], total: 1, errors: [] }, ['a', 1]],
  [{ results: [], total: 0, warnings: ['slow'] }, ['', 'limit']],
  [{ results: [], total: 0, warnings: [] }, ['', 0]],
  [{ results: [a], total: 1, warnings: ['slow'] }, ['a', 1]],
  [{ results: [a], total: 1, _shards: { failed: 1 } }, ['a', 'limit']],
  [{ results: [a], total: 1, _shards: { failed: 0 } }, ['a', 1]],
  [{ results: [a], total: 1, timed_out: true }, ['a', 'limit']],
  [{ results: [a], total: 1, complete: false }, ['a', 'limit']],
  [{ results: [a], total: 1, hasMore: true }, ['a', 'limit']],
  [{ results: [a], total: 1, hasMore: false }, ['a', 1]],
  [{ results: [a], total: 9, hasMore: true }, ['a', 9]],
  // An empty list beside an error is none.
  [{ results: [], errors: ['timeout'] }, 'embedded-error'],
  [{ results: [], errors: [] }, ['', 'no total']],
  [{ results: [], error: 'timeout' }, 'embedded-error'],
  [{ results: [], success: false }, 'embedded-error'],
  [{ results: [], status: 500 }, 'embedded-error'],
  [{ results: [], status: 'failed' }, 'embedded-error'],
];

test.each(pages)('a list is read from %j', (body, expected) => {
  expect(pageOf(body)).toEqual(expected);
});

test('the status and the headers of a list count too', () => {
  expect(pageOf([a], 200, { 'x-total-count': '7' })).toEqual(['a', 7]);
  expect(pageOf([a], 206, { 'content-range': 'items 0-0/7' })).toEqual(['a', 7]);
  expect(pageOf([a], 206, { 'content-range': 'items 0-0/1' })).toEqual(['a', 'limit']);
  expect(pageOf({ results: [] }, 202)).toBe('embedded-error');
});

const records: [body: unknown, expected: unknown][] = [
  [a, 'a'],
  [[a], 'a'],
  [{ data: a }, 'a'],
  [{ data: { company: a } }, 'a'],
  [null, 'not-found'],
  [{}, 'not-found'],
  [[], 'not-found'],
  [{ statusCode: 404, message: 'No such company' }, 'not-found'],
  [{ statusCode: 405, message: 'No' }, 'unexpected'],
  [{ ok: true }, 'unexpected'],
  [{ ...a, deep: nested(62, 1) }, 'a'],
  [{ ...a, deep: nested(80, 1) }, 'unexpected'],
];

test.each(records)('a record is read from %j', (body, expected) => {
  expect(oneOf(body)).toEqual(expected);
});
