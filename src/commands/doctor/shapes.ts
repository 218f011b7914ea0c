import type { RawRecord } from '../../service/envelope.ts';
import { isApiError } from '../../service/errors.ts';
import { findUnrecognized } from '../../service/records/recognition.ts';
import type { ApiRecord } from '../../service/records/records.ts';
import { routes } from '../../service/routes.ts';
import { isObject } from '../../values.ts';
import { check, checkAs, type Finding, notTried, quoted } from './check.ts';
import type { Prober, Probes } from './prober.ts';

const main = ['company', 'contact', 'opportunity', 'product', 'quote'] as const;

/** Checks the form of the records: names, references, dates and deletion marks. */
export async function checkShapes(prober: Prober, probes: Probes): Promise<Finding[]> {
  const rows = main.flatMap((resource) => prober.rawRows(resource));
  if (rows.length === 0) return [];
  return [
    ...checkFields(probes),
    checkReferences(prober.rawRows('opportunity')),
    await checkItems(prober, probes),
    checkDates(probes, rows),
    checkMarks(rows),
  ];
}

/** Records of another form: answers say which fields are missing. */
function checkFields(probes: Probes): Finding[] {
  const failures = main.flatMap((resource): Finding[] => {
    const { records = [], error } = probes.get(resource) ?? {};
    const { path } = routes[resource];
    const id = `fields:${path}`;
    const effect = { of: [resource], is: 'wrong' } as const;
    if (isApiError(error, 'unfamiliar')) {
      const names = quoted(error.facts.unknownFields);
      const detail = `The service's records look different from what this server knows: ${names}`;
      return [{ ...check(id, 'fields', 'fail', detail, remedyForFields), effect }];
    }
    return findUnrecognized(resource, records).map(({ kind, what, unknownFields }) => {
      const detail = `The service's records look different from what this server knows: no ${kind.replace('_', ' ')} has a ${what}, but ${quoted(unknownFields)}`;
      const is = ['name', 'number'].includes(what) ? 'wrong' : 'wrong figures';
      const found = check(id, 'fields', 'fail', detail, remedyForFields);
      return { ...found, effect: { of: [resource], is } };
    });
  });
  return failures.length > 0 ? failures : [check('fields', 'fields', 'pass', 'known')];
}

const remedyForFields =
  'Check that the address is the documented API; otherwise this version cannot read the tenant';

const referenceFields = ['company', 'owner', 'pipelineStage', 'contact', 'category', 'source'];

function checkReferences(rows: readonly RawRecord[]): Finding {
  const found = checkAs('records:references', 'references');
  const row = rows.find((one) => referenceFields.some((name) => formOf(one, name) !== undefined));
  if (!row) return found('skip', 'no opportunity refers to another record');
  const forms = new Set(referenceFields.flatMap((name) => formOf(row, name) ?? []));
  if (forms.has('text')) {
    return found(
      'warn',
      'texts such as company: "…", which may be names without an id',
      'Where they are names, an opportunity is not changed: a write might clear them',
    );
  }
  return found('pass', forms.has('flat') ? 'flat, such as companyId' : 'nested');
}

function formOf(row: RawRecord, name: string): 'nested' | 'flat' | 'text' | undefined {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const value = row[name] ?? row[snake];
  if (isObject(value)) return 'nested';
  if (typeof value === 'string' && value !== '') return 'text';
  return row[`${name}Id`] === undefined && row[`${snake}_id`] === undefined ? undefined : 'flat';
}

/** Without items the value of a quote is unknown. */
async function checkItems(prober: Prober, probes: Probes): Promise<Finding> {
  const found = checkAs('records:items', 'items of quotes');
  const { records = [] } = probes.get('quote') ?? {};
  const [quote] = records;
  if (quote?.id === undefined) return found('skip', 'no quote could be read');
  const has = (row: RawRecord) => Array.isArray(row.items ?? row.Items);
  if (prober.rawRows('quote').some(has)) return found('pass', 'in the rows of the list');
  if (!prober.canAsk) return found('skip', notTried);
  try {
    const { items } = await prober.quote(quote.id);
    if (!items) return found('skip', 'the first quote has none');
  } catch (error) {
    if (!isApiError(error)) throw error;
    return found('skip', 'a quote could not be read by id');
  }
  const detail = 'not in the rows of the list: quotes are read one by one for their totals';
  const remedy = `That takes a request each. Where there are many, answers say which totals are not known`;
  return { ...found('warn', detail, remedy), effect: { of: ['quote'], is: 'partial' } };
}

const timeFields = /(At|_at|Date|_date)$/;

function checkDates(probes: Probes, rows: readonly RawRecord[]): Finding {
  const found = checkAs('records:dates', 'dates');
  const unreadable = main.filter((resource) =>
    (probes.get(resource)?.records ?? []).some((record) => hasUnreadableTime(record)),
  );
  if (unreadable.length > 0) {
    return {
      ...found('fail', `cannot be read in ${unreadable.map((it) => routes[it].path).join(', ')}`),
      effect: { of: unreadable, is: 'wrong figures' },
    };
  }
  const times = rows.flatMap((row) =>
    Object.entries(row).filter(
      ([name, value]) => timeFields.test(name) && value !== null && value !== '',
    ),
  );
  if (times.length === 0) return found('skip', 'no record has one');
  const digits = times.map(([, value]) => (/^\d+$/.test(String(value)) ? String(value).length : 0));
  if (digits.some((count) => count > 11)) return found('pass', 'milliseconds since 1970');
  return found('pass', digits.some((count) => count > 0) ? 'seconds since 1970' : 'ISO 8601');
}

const hasUnreadableTime = ({ unreadable, ...record }: ApiRecord): boolean =>
  Object.keys(unreadable ?? {}).some((name) => timeFields.test(name)) ||
  Object.entries(record).some(
    ([name, value]) =>
      timeFields.test(name) &&
      typeof value === 'string' &&
      value.trim() !== '' &&
      Number.isNaN(Date.parse(value)),
  );

function checkMarks(rows: readonly RawRecord[]): Finding {
  const marks = rows.flatMap(({ deleted, deletedAt, deleted_at }) =>
    [deleted, deletedAt, deleted_at].filter((mark) => mark !== undefined),
  );
  const found = checkAs('records:deleted', 'deletion marks');
  if (marks.length === 0) return found('pass', 'no record that was read is marked as deleted');
  const isFlag = marks.some((mark) => typeof mark === 'boolean');
  return found('pass', isFlag ? 'true or false' : 'a time, or empty');
}
