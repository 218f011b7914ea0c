import type { Row } from '../hosts.ts';

/** The fields of the body of an upsert that are stored as values. */
export const plain = [
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

/** Those that it refers to by `companyId` or `companyExtId`. */
export const references = ['company', 'contact', 'owner', 'pipelineStage', 'category', 'source'];

export const writable: ReadonlySet<string> = new Set([
  ...plain,
  'customFields',
  ...references.flatMap((name) => [`${name}Id`, `${name}ExtId`]),
]);

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The problems of the body of an upsert; empty if there are none. */
export function complaints(body: unknown): string[] {
  if (!isRow(body)) return ['the body must be an object'];
  const unknown = Object.keys(body).filter((key) => !writable.has(key));
  const missing = typeof body.name === 'string' && body.name ? [] : ['name'];
  return [
    ...unknown.map((key) => `property ${key} should not exist`),
    ...missing.map((key) => `${key} must be a string`),
  ];
}

/** `companyId` and `companyExtId` become the nested `company`. */
const nested = (body: Row): Array<[string, unknown]> =>
  references.flatMap((name): Array<[string, unknown]> => {
    const id = body[`${name}Id`];
    const externalIdentifier = body[`${name}ExtId`];
    if (id !== undefined) return [[name, { id }]];
    return externalIdentifier === undefined ? [] : [[name, { externalIdentifier }]];
  });

/** Creates or updates the record with this external identifier. @returns what is stored */
export function upsert(
  rows: Row[],
  externalIdentifier: string,
  body: Row,
  fresh: { id: string; at: string },
  omitted: 'kept' | 'cleared' = 'kept',
): Row {
  const found = rows.find((row) => row.externalIdentifier === externalIdentifier);
  const stored = found ?? { id: fresh.id, externalIdentifier, createdAt: fresh.at };
  if (omitted === 'cleared') {
    for (const key of [...plain, ...references, 'customFields']) delete stored[key];
  }
  const given = Object.entries(body).filter(([key]) => plain.includes(key));
  const before = isRow(stored.customFields) ? stored.customFields : {};
  const after = isRow(body.customFields) ? body.customFields : {};
  Object.assign(stored, Object.fromEntries([...given, ...nested(body)]), {
    customFields: { ...before, ...after },
    updatedAt: fresh.at,
  });
  if (!found) rows.push(stored);
  return stored;
}
