import type { Row } from '../hosts.ts';
import { plain, references, writable } from '../upstream/writes.ts';
import { refusal } from './paging.ts';
import type { Reply } from './reply.ts';
import type { Named, Opportunity, StoredData } from './stored-data.ts';
import type { Switches } from './switches.ts';
import { storedValue } from './view.ts';

/** Every record that an opportunity can refer to. */
function known(storedData: StoredData): Named[] {
  const people = storedData['/contact'].map(({ id, firstName, lastName }) => ({
    id,
    name: `${firstName} ${lastName}`,
  }));
  const words = storedData['/opportunity'].flatMap(({ owner, pipelineStage, source }) =>
    [owner, pipelineStage, source].filter((it) => it !== undefined),
  );
  return [...storedData['/company'], ...people, ...storedData['/category'], ...words];
}

function named(storedData: StoredData, id: unknown): Named | undefined {
  const found = known(storedData).find((it) => String(it.id) === String(id));
  return found && { id: found.id, name: found.name };
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** The refusal of an invalid body. */
function problem(
  body: Row,
  stored: Opportunity | undefined,
  storedData: StoredData,
): Reply | undefined {
  const unknown = Object.keys(body).find((key) => !writable.has(key));
  if (unknown !== undefined) return refusal(400, `property ${unknown} should not exist`);
  if (isEmpty(body.name) && !stored) return refusal(400, 'name should not be empty');
  const lost = references.find(
    (name) => !isEmpty(body[`${name}Id`]) && !named(storedData, body[`${name}Id`]),
  );
  return lost === undefined ? undefined : refusal(400, `${lost}Id is unknown`);
}

/** Rules of the web interface that the API may share. */
function brokenRule(body: Row, stored: Opportunity | undefined, on: Switches): Reply | undefined {
  const moves = stored && String(body.companyId ?? '') !== String(stored.company?.id ?? '');
  const broken: Record<Switches['writeRule'], boolean | undefined> = {
    none: false,
    computed: false,
    'company kept': false,
    status: stored !== undefined,
    'company locked': moves,
    title: String(body.name ?? '').length > 12,
    category: isEmpty(body.categoryId),
  };
  const words: Partial<Record<Switches['writeRule'], string>> = {
    status: 'Only opportunities in status Active or Not ready to buy can be edited',
    'company locked': 'The company cannot be changed once a quote was sent',
    title: 'name must be shorter than or equal to 12 characters',
    category: 'A category is required',
  };
  return broken[on.writeRule] ? refusal(400, words[on.writeRule] ?? '') : undefined;
}

function written(
  body: Row,
  stored: Opportunity | undefined,
  storedData: StoredData,
  on: Switches,
): Row {
  const keeps = on.omitted === 'kept';
  const next: Row = { ...stored };
  for (const name of plain) {
    if (name in body || !keeps) next[name] = storedValue(name, body[name] ?? undefined, on);
  }
  for (const name of references) {
    const given = `${name}Id` in body;
    const fixed = on.writeRule === 'company kept' && name === 'company' && stored;
    if ((given || !keeps) && !fixed) next[name] = named(storedData, body[`${name}Id`]);
  }
  const custom =
    'customFields' in body ? { ...stored?.customFields, ...(body.customFields as Row) } : undefined;
  if (custom || !keeps) next.customFields = custom;
  if (on.writeRule === 'computed') next.onetimeRevenue = 777;
  return next;
}

/** `PUT /opportunity/ext/{externalIdentifier}`: stores what it is sent, and answers with the record or a refusal. */
export function upsert(
  storedData: StoredData,
  externalIdentifier: string,
  body: Row,
  on: Switches,
): Opportunity | Reply {
  const deals = storedData['/opportunity'];
  const at = deals.findIndex((deal) => deal.externalIdentifier === externalIdentifier);
  const stored = deals[at];
  const refused = problem(body, stored, storedData) ?? brokenRule(body, stored, on);
  if (refused) return refused;
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const made = {
    statusId: 'Active',
    createdAt: now,
    stageUpdatedAt: now,
    ...written(body, stored, storedData, on),
    id: stored?.id ?? (on.ids === 'integers' ? 999_999 : 'newdealnewdealnewdea'),
    externalIdentifier,
    updatedAt: now,
  } as Opportunity;
  if (stored) deals[at] = made;
  else deals.push(made);
  return made;
}
