import type { Row } from '../hosts.ts';
import type { Switches } from './switches.ts';

/** Looks into nested records; `companyId` is `company.id` under another name. */
function valueAt(record: Row, path: string): unknown {
  const direct = path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null ? (value as Row)[name] : undefined,
      record,
    );
  const flat = /^(\w+)Id$/.exec(path);
  return direct ?? (flat ? valueAt(record, `${flat[1]}.id`) : undefined);
}

/** In a service with flat rows a nested path is not a field. */
const matchesNothing = (key: string, on: Switches): boolean =>
  on.filterKeys === 'of the rows' && key.includes('.');

/** `key:v1|v2,key2:v`: a comma is and, a pipe is or. */
function passes(record: Row, filters: string, on: Switches): boolean {
  return filters.split(',').every((filter) => {
    const colon = filter.indexOf(':');
    const key = filter.slice(0, colon);
    const values = filter.slice(colon + 1).split('|');
    return !matchesNothing(key, on) && values.includes(String(valueAt(record, key) ?? ''));
  });
}

const mentions = (record: Row, text: string): boolean =>
  JSON.stringify(record).toLowerCase().includes(text.toLowerCase());

function compared(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a ?? '') < String(b ?? '') ? -1 : Number(String(a ?? '') > String(b ?? ''));
}

/** `-field,+field`; equal records keep their order. */
function sorted<T extends Row>(records: readonly T[], sort: string): T[] {
  const keys = sort.split(',').map((key) => ({
    path: key.replace(/^[-+ ]/, ''),
    sign: key.startsWith('-') ? -1 : 1,
  }));
  return records.toSorted((a, b) =>
    keys.reduce(
      (order, { path, sign }) => order || sign * compared(valueAt(a, path), valueAt(b, path)),
      0,
    ),
  );
}

/** As a search engine does that analyses the values of a filter. */
const hasAnyWord = (record: Row, filters: string): boolean =>
  filters.split(/[,:|\s]+/).some((word, at) => at > 0 && mentions(record, word));

/** The records that match a request, as far as the service honours its parameters. */
export function searched<T extends Row>(
  records: readonly T[],
  query: URLSearchParams,
  on: Switches,
): readonly T[] {
  const asked = (name: 'filters' | 'query' | 'sort'): string =>
    ['honoured', 'any word'].includes(on[name]) ? (query.get(name) ?? '') : '';
  const matches = on.filters === 'any word' ? hasAnyWord : passes;
  const [filters, text, sort] = [asked('filters'), asked('query'), asked('sort')];
  const found = records.filter(
    (record) =>
      (filters === '' || matches(record, filters, on)) && (text === '' || mentions(record, text)),
  );
  return sort === '' ? found : sorted(found, sort);
}
