import type { Row } from '../hosts.ts';
import { mentions, passes, sorted, valueAt } from '../upstream/search.ts';
import type { Switches } from './switches.ts';

/** `companyId` is `company.id` under another name. */
function fieldOf(record: Row, path: string): unknown {
  const [, name] = /^(\w+)Id$/.exec(path) ?? [];
  return valueAt(record, path) ?? (name === undefined ? undefined : valueAt(record, `${name}.id`));
}

/** In a service with flat rows a nested path is not a field. */
const ofFlatRows = (record: Row, path: string): unknown =>
  path.includes('.') ? undefined : fieldOf(record, path);

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
  const [filters, text, sort] = [asked('filters'), asked('query'), asked('sort')];
  const value = on.filterKeys === 'of the rows' ? ofFlatRows : fieldOf;
  const matches = (record: Row) =>
    on.filters === 'any word' ? hasAnyWord(record, filters) : passes(record, filters, value);
  const found = records.filter(
    (record) => (filters === '' || matches(record)) && (text === '' || mentions(record, text)),
  );
  return sort === '' ? found : sorted(found, sort, fieldOf);
}
