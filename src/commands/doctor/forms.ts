import { isApiError } from '../../service/errors.ts';
import { findUnrecognized } from '../../service/records/recognition.ts';
import type { ApiRecord } from '../../service/records/records.ts';
import { routes } from '../../service/routes.ts';
import { checkAs, type Finding, quoted } from './check.ts';
import type { Probes } from './prober.ts';

const main = ['company', 'contact', 'opportunity', 'product', 'quote'] as const;

/** Checks the form of the records that were read: their fields, items and dates. */
export function checkForms(probes: Probes): Finding[] {
  const hasRecords = main.some((resource) => probes.get(resource)?.records.length);
  const failures = main.flatMap((resource) => checkFields(resource, probes));
  if (!hasRecords && failures.length === 0) return [];
  const fields = failures.length > 0 ? failures : [checkAs('fields', 'fields')('pass', 'known')];
  return [...fields, checkItems(probes), checkDates(probes)];
}

/** Records of another form: answers say which fields are missing. */
function checkFields(resource: (typeof main)[number], probes: Probes): Finding[] {
  const { records = [], error } = probes.get(resource) ?? {};
  const fields = checkAs(`fields:${routes[resource].path}`, 'fields');
  const different = "The service's records look different from what this server knows";
  const remedy =
    'Check that the address is the documented API; otherwise this version cannot read the tenant';
  if (isApiError(error, 'unfamiliar')) {
    const detail = `${different}: ${quoted(error.facts.unknownFields)}`;
    return [fields('fail', detail, remedy, { of: [resource], is: 'wrong' })];
  }
  return findUnrecognized(resource, records).map(({ kind, what, unknownFields }) => {
    const detail = `${different}: no ${kind.replace('_', ' ')} has a ${what}, but ${quoted(unknownFields)}`;
    const is = ['name', 'number'].includes(what) ? 'wrong' : 'wrong figures';
    return fields('fail', detail, remedy, { of: [resource], is });
  });
}

/** Without items the value of a quote is unknown. */
function checkItems(probes: Probes): Finding {
  const found = checkAs('records:items', 'items of quotes');
  const quotes: readonly ApiRecord[] = probes.get('quote')?.records ?? [];
  if (quotes.length === 0) return found('skip', 'no quote could be read');
  if (quotes.some((quote) => 'items' in quote)) return found('pass', 'in the rows of the list');
  return found(
    'warn',
    'not in the rows of the list: quotes are read one by one for their totals',
    'That takes a request each. Where there are many, answers say which totals are not known',
    { of: ['quote'], is: 'partial' },
  );
}

const timeFields = /(At|_at|Date|_date)$/;

function checkDates(probes: Probes): Finding {
  const found = checkAs('records:dates', 'dates');
  const of = main.filter((resource) => probes.get(resource)?.records.some(hasUnreadableTime));
  if (of.length === 0) return found('pass', 'readable');
  const paths = of.map((resource) => routes[resource].path).join(', ');
  return found('fail', `cannot be read in ${paths}`, undefined, { of, is: 'wrong figures' });
}

/** A time that is no text is among the unreadable values. */
const hasUnreadableTime = (record: ApiRecord): boolean =>
  Object.entries({ ...record.unreadable, ...record }).some(
    ([name, value]) =>
      timeFields.test(name) &&
      value !== null &&
      (typeof value !== 'string' || (value.trim() !== '' && Number.isNaN(Date.parse(value)))),
  );
