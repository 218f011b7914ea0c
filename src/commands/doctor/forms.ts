import { isApiError } from '../../service/errors.ts';
import { findUnrecognized } from '../../service/records/recognition.ts';
import type { ApiRecord } from '../../service/records/records.ts';
import { routes } from '../../service/routes.ts';
import type { Probes } from './prober.ts';
import { checkAs, type DoctorCheck, quoted } from './report.ts';

const main = ['company', 'contact', 'opportunity', 'product', 'quote'] as const;

/** Checks the form of the records that were read: their fields, items and dates. */
export function checkForms(probes: Probes): DoctorCheck[] {
  const hasRecords = main.some((resource) => probes.get(resource)?.records.length);
  const failures = main.flatMap((resource) => checkFields(resource, probes));
  if (!hasRecords && failures.length === 0) return [];
  const fields = failures.length > 0 ? failures : [checkAs('fields', 'fields')('pass', 'known')];
  return [...fields, checkItems(probes), checkDates(probes)];
}

/** Records of another form: answers say which fields are missing. */
function checkFields(resource: (typeof main)[number], probes: Probes): DoctorCheck[] {
  const { records = [], error } = probes.get(resource) ?? {};
  const details = isApiError(error, 'unfamiliar')
    ? [quoted(error.facts.unknownFields)]
    : findUnrecognized(resource, records).map(
        ({ kind, what, unknownFields }) =>
          `no ${kind.replace('_', ' ')} has a ${what}, but ${quoted(unknownFields)}`,
      );
  const fields = checkAs(`fields:${routes[resource].path}`, 'fields');
  const remedy =
    'Check that the address is the documented API; otherwise this version cannot read the tenant';
  const different = "The service's records look different from what this server knows";
  return details.map((detail) => fields('fail', `${different}: ${detail}`, remedy));
}

/** Without items the value of a quote is unknown. */
function checkItems(probes: Probes): DoctorCheck {
  const found = checkAs('records:items', 'items of quotes');
  const quotes: readonly ApiRecord[] = probes.get('quote')?.records ?? [];
  if (quotes.length === 0) return found('skip', 'no quote could be read');
  if (quotes.some((quote) => 'items' in quote)) return found('pass', 'in the rows of the list');
  return found(
    'warn',
    'not in the rows of the list: quotes are read one by one for their totals',
    'That takes a request each. Where there are many, answers say which totals are not known',
  );
}

const timeFields = /(At|_at|Date|_date)$/;

function checkDates(probes: Probes): DoctorCheck {
  const found = checkAs('records:dates', 'dates');
  const of = main.filter((resource) => probes.get(resource)?.records.some(hasUnreadableTime));
  const paths = of.map((resource) => routes[resource].path).join(', ');
  return paths === '' ? found('pass', 'readable') : found('fail', `cannot be read in ${paths}`);
}

/** A time that is no text is among the unreadable values. */
const hasUnreadableTime = (record: ApiRecord): boolean =>
  Object.entries({ ...record.unreadable, ...record }).some(
    ([name, value]) =>
      timeFields.test(name) &&
      value !== null &&
      (typeof value !== 'string' || (value.trim() !== '' && Number.isNaN(Date.parse(value)))),
  );
