import type { Row } from '../hosts.ts';
import type { Active } from './behaviour.ts';
import { isRow, type Records, references } from './records.ts';
import { storedValue } from './view.ts';

/** The fields of the body of an upsert that are stored as values. */
const plain = [
  'name',
  'description',
  'probability',
  'onetimeRevenue',
  'monthlyRevenue',
  'monthlyChurn',
  'valueMonths',
  'startDate',
  'expectedCloseDate',
];

const writable: ReadonlySet<string> = new Set([
  ...plain,
  'customFields',
  ...references.flatMap((name) => [`${name}Id`, `${name}ExtId`]),
]);

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every record that an opportunity can refer to. */
function known(records: Records): Row[] {
  const people = records['/contact'].map((it) => ({
    id: it.id,
    name: `${it.firstName} ${it.lastName}`,
  }));
  const words = records['/opportunity'].flatMap(({ owner, pipelineStage, source }) =>
    [owner, pipelineStage, source].filter(isRow),
  );
  return [...records['/company'], ...people, ...records['/category'], ...words];
}

function named(records: Records, id: unknown): Row | undefined {
  const found = known(records).find((it) => String(it.id) === String(id));
  return found && { id: found.id, name: found.name };
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Rules of the web interface that the API may share: whether they are broken, and the words of the refusal. */
function brokenRule(body: Row, stored: Row | undefined, { writeRule }: Active): string[] {
  const companyId = isRow(stored?.company) ? stored.company.id : undefined;
  const moves = stored !== undefined && String(body.companyId ?? '') !== String(companyId ?? '');
  const rules: Partial<Record<NonNullable<Active['writeRule']>, readonly [boolean, string]>> = {
    status: [
      stored !== undefined,
      'Only opportunities in status Active or Not ready to buy can be edited',
    ],
    'company locked': [moves, 'The company cannot be changed once a quote was sent'],
    title: [
      String(body.name ?? '').length > 12,
      'name must be shorter than or equal to 12 characters',
    ],
    category: [isEmpty(body.categoryId), 'A category is required'],
  };
  const [isBroken, words] = (writeRule && rules[writeRule]) ?? [false, ''];
  return isBroken ? [words] : [];
}

/** The problems of the body of an upsert; empty if there are none. */
function complaints(body: Row, stored: Row | undefined, records: Records, on: Active): string[] {
  const unknown = Object.keys(body).filter((key) => !writable.has(key));
  const isNamed = typeof body.name === 'string' && body.name !== '';
  const lost = references.filter((name) => {
    const id = body[`${name}Id`];
    return on.refusesUnknownIds && !isEmpty(id) && named(records, id) === undefined;
  });
  return [
    ...unknown.map((key) => `property ${key} should not exist`),
    ...(isNamed ? [] : ['name must be a string']),
    ...lost.map((name) => `${name}Id is unknown`),
    ...brokenRule(body, stored, on),
  ];
}

/** The record that `companyId` or `companyExtId` refers to, named where the service looks it up. */
function referred(name: string, body: Row, records: Records, on: Active): Row | undefined {
  const id = body[`${name}Id`] ?? undefined;
  const externalIdentifier = body[`${name}ExtId`] ?? undefined;
  if (id !== undefined) return (on.refusesUnknownIds ? named(records, id) : undefined) ?? { id };
  return externalIdentifier === undefined ? undefined : { externalIdentifier };
}

const withoutNull = (body: Row): Row =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));

/** What the body makes of the fields of a record; undefined where it clears one. */
function written(body: Row, stored: Row, records: Records, on: Active): Row {
  const isCleared = on.omitted === 'cleared';
  // A service that keeps what is left out keeps null as well.
  const values = isCleared ? withoutNull(body) : body;
  const next: Row = {};
  for (const name of plain) {
    if (name in values || isCleared) next[name] = storedValue(name, values[name], on);
  }
  for (const name of references) {
    const isGiven = `${name}Id` in body || `${name}ExtId` in body;
    const isFixed = on.writeRule === 'company kept' && name === 'company' && isRow(stored.company);
    if ((isGiven || isCleared) && !isFixed) next[name] = referred(name, body, records, on);
  }
  const { customFields } = body;
  if (isCleared) next.customFields = customFields;
  else if (isRow(customFields))
    next.customFields = { ...Object(stored.customFields), ...customFields };
  if (on.writeRule === 'computed') next.onetimeRevenue = 777;
  return next;
}

/** Creates or updates the record with this external identifier. @returns what is stored, or what is wrong with the body */
export function upsert(
  records: Records,
  externalIdentifier: string,
  body: unknown,
  fresh: { id: string; at: string },
  on: Active,
): Row | string[] {
  if (!isRow(body)) return ['the body must be an object'];
  const rows = records['/opportunity'];
  const found = rows.find((row) => row.externalIdentifier === externalIdentifier);
  const problems = complaints(body, found, records, on);
  if (problems.length > 0) return problems;
  // As the other ids are: of some services they are numbers.
  const id = typeof rows[0]?.id === 'number' ? 999_999 : fresh.id;
  const stored = found ?? { id, externalIdentifier, statusId: 'Active', createdAt: fresh.at };
  Object.assign(stored, written(body, stored, records, on), { updatedAt: fresh.at });
  if (!found) rows.push(stored);
  return stored;
}
