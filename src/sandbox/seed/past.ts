import type { Json, JsonObject, Row } from '../json.ts';
import { cents, Random } from './random.ts';
import { profiles } from './words.ts';

/** What the past of a tenant's records is made from: the tenant as it is now. */
export interface PastSources {
  /** Prefix of the random choices. */
  seed: string;
  profile: number;
  probabilityScale: number;
  /** References to open stages, in order. */
  stages: JsonObject[];
  owners: JsonObject[];
  now: Date;
}

/** A change of a record, and the values that its fields had before. */
interface Change {
  at: number;
  before: JsonObject;
}

/** The time in which a record may have changed, in milliseconds since the epoch. */
interface Lifetime {
  created: number;
  end: number;
}

const dayMs = 86_400_000;
const iso = (at: number): string => new Date(at).toISOString();
const timeOf = (value: Json | undefined): number => Date.parse(String(value ?? ''));
const known = (values: (Json | undefined)[]): number[] =>
  values.map(timeOf).filter((time) => !Number.isNaN(time));

/** Versions of each record from its creation until now, given its wire record. The last version is the record as it is. */
export function makePast(
  kind: 'opportunity' | 'quote',
  records: JsonObject[],
  sources: PastSources,
): Row[] {
  return records.flatMap((record) => {
    const lifetime = lifetimeOf(record, sources.now);
    const random = new Random(`${sources.seed}/past/${String(record.id)}`);
    const made =
      kind === 'quote'
        ? quoteChanges(random, record, lifetime)
        : opportunityChanges(random, record, lifetime, sources);
    const changes = [...lastUpdate(record, lifetime), ...made, ...deletion(record)];
    return versionsFrom(record, changes, lifetime).map((version) => ({
      [`${kind}Id`]: record.id,
      ...version,
    }));
  });
}

/** A record ends when it is closed, answered or deleted; an open opportunity changed last when it was updated. */
function lifetimeOf(record: JsonObject, now: Date): Lifetime {
  const { createdAt, updatedAt, stageUpdatedAt, sentAt, closedAt, deletedAt } = record;
  const closed = 'items' in record ? answeredAt(record) : [timeOf(closedAt) || timeOf(updatedAt)];
  const ends = [...closed.filter((time) => !Number.isNaN(time)), ...known([deletedAt])];
  const starts = known([createdAt, updatedAt, stageUpdatedAt, sentAt]);
  const created = Math.min(now.getTime(), ...starts, ...ends);
  return { created, end: Math.max(created, Math.min(now.getTime(), ...ends)) };
}

/** The record after each of its changes, the oldest version first. */
function versionsFrom(record: JsonObject, changes: Change[], { created }: Lifetime): Row[] {
  const versions: Row[] = [];
  let state = record;
  for (const { at, before } of changes.sort((one, other) => other.at - one.at)) {
    versions.push({ at: iso(at), record: JSON.stringify(state) });
    state = { ...state, ...before, updatedAt: iso(at - 1) };
  }
  const first = JSON.stringify({ ...state, updatedAt: iso(created) });
  return [...versions, { at: iso(created), record: first }].reverse();
}

/** The last update, of which only its time is known, unless it was the deletion. */
const lastUpdate = ({ updatedAt, deletedAt }: JsonObject, { created }: Lifetime): Change[] =>
  timeOf(updatedAt) > created && updatedAt !== deletedAt
    ? [{ at: timeOf(updatedAt), before: {} }]
    : [];

const deletion = ({ deletedAt }: JsonObject): Change[] =>
  known([deletedAt]).map((at) => ({ at, before: { deletedAt: undefined } }));

/** Times of changes, the latest first. */
function times(random: Random, { created, end }: Lifetime, count: number): number[] {
  if (end - created < dayMs) return [];
  const drawn = Array.from({ length: count }, () => random.int(created + 1, end - 1));
  return drawn.sort((one, other) => other - one);
}

/** How a quote was drafted, sent and answered; some were repriced, and some were valid longer than at first. */
const quoteChanges = (random: Random, quote: JsonObject, lifetime: Lifetime): Change[] => [
  ...answers(quote, lifetime),
  ...sendings(quote, lifetime),
  ...repricings(random, quote, lifetime),
  ...extensions(random, quote, lifetime),
];

const answeredAt = ({ approvedAt, declinedAt, expiredAt }: JsonObject): number[] =>
  known([approvedAt, declinedAt, expiredAt]).sort((one, other) => one - other);

const matchCase = (status: string, { status: like }: JsonObject): string =>
  like === String(like).toUpperCase() ? status.toUpperCase() : status;

/** Before it was approved, declined or expired, a quote was sent, or a draft if it never was. */
function answers(quote: JsonObject, { created }: Lifetime): Change[] {
  const [at] = answeredAt(quote);
  if (at === undefined || at <= created) return [];
  const status = matchCase(timeOf(quote.sentAt) < at ? 'sent' : 'draft', quote);
  const unanswered = { approvedAt: undefined, declinedAt: undefined, expiredAt: undefined };
  return [{ at, before: { status, ...unanswered } }];
}

function sendings(quote: JsonObject, { created, end }: Lifetime): Change[] {
  const at = timeOf(quote.sentAt);
  const draft = { status: matchCase('draft', quote), sentAt: undefined, expiresAt: undefined };
  return at > created && at < end ? [{ at, before: draft }] : [];
}

/** The quantities of a third of the quotes were other ones before. */
function repricings(random: Random, quote: JsonObject, lifetime: Lifetime): Change[] {
  const items = quote.items as JsonObject[] | undefined;
  if (!items?.length || !random.chance(0.35)) return [];
  return times(random, lifetime, random.int(1, 2)).map((at) => {
    const factor = random.amount(0.6, 1.2);
    return { at, before: { items: items.map((item) => withQuantity(item, factor)) } };
  });
}

const withQuantity = (item: JsonObject, factor: number): JsonObject =>
  typeof item.quantity === 'number'
    ? { ...item, quantity: Math.max(1, Math.round(item.quantity * factor)) }
    : item;

/** The expiry date of a sent quote was moved. */
function extensions(random: Random, quote: JsonObject, { end }: Lifetime): Change[] {
  const [sent, expires] = [timeOf(quote.sentAt), timeOf(quote.expiresAt)];
  if (!(end - sent > 10 * dayMs) || !(expires > sent) || !random.chance(0.2)) return [];
  const at = random.int(sent + 5 * dayMs, end - 1);
  return [{ at, before: { expiresAt: iso(expires - random.int(10, 20) * dayMs) } }];
}

/** How an opportunity moved through the stages, how its value, close date and owner changed. */
const opportunityChanges = (
  random: Random,
  record: JsonObject,
  lifetime: Lifetime,
  sources: PastSources,
): Change[] => [
  ...stageChanges(random, record, lifetime, sources),
  ...amountChanges(random, record, lifetime, 'onetimeRevenue', 0.4, 1),
  ...amountChanges(random, record, lifetime, 'monthlyRevenue', 0.2, 10),
  ...dateChanges(random, record, lifetime),
  ...ownerChanges(random, record, lifetime, sources),
];

function stageChanges(
  random: Random,
  record: JsonObject,
  { created }: Lifetime,
  { stages, profile, probabilityScale }: PastSources,
): Change[] {
  const { status, stages: usual } = profiles[profile === 1 ? 1 : 0];
  const entered = timeOf(record.stageUpdatedAt);
  const isClosed = Boolean(record.closedAt);
  const last = isClosed
    ? random.int(0, stages.length - 1)
    : stages.findIndex(({ id }) => id === idOf(record.pipelineStage));
  if (last < 0 || !(entered > created)) return [];
  const path = stagePath(random, stages.length, last, isClosed);
  const moves = [entered, ...times(random, { created, end: entered }, path.length - 1)];
  return moves.map((at, step) => {
    // The open stages come first in the profile.
    const position = path[step] ?? 0;
    const before = {
      pipelineStage: stages[position],
      probability: cents((usual[position]?.[2] ?? 0) * probabilityScale),
      stageUpdatedAt: iso(moves[step + 1] ?? created),
    };
    const reopened = { statusId: status.open, closedAt: undefined };
    return { at, before: step === 0 && isClosed ? { ...before, ...reopened } : before };
  });
}

const idOf = (reference: Json | undefined) => (reference as JsonObject | undefined)?.id;

/** The stages before the present one, the latest first: some deals go back once, some skip a stage. */
function stagePath(random: Random, count: number, last: number, isClosed: boolean): number[] {
  const goesBack = last + 1 < count && random.chance(0.12) ? [last + 1] : [];
  const before = Array.from({ length: last }, (_, at) => last - 1 - at);
  const passed = before.filter(() => random.chance(0.9));
  return [...(isClosed ? [last] : []), ...goesBack, ...passed];
}

function amountChanges(
  random: Random,
  record: JsonObject,
  lifetime: Lifetime,
  field: 'onetimeRevenue' | 'monthlyRevenue',
  share: number,
  step: number,
): Change[] {
  let amount = record[field];
  if (typeof amount !== 'number' || amount <= 0 || !random.chance(share)) return [];
  return times(random, lifetime, random.int(1, 2)).map((at) => {
    amount = Math.round((Number(amount) * random.amount(0.7, 1.15)) / step) * step;
    return { at, before: { [field]: amount } };
  });
}

/** Most new close dates are later than the old ones. */
function dateChanges(random: Random, record: JsonObject, lifetime: Lifetime): Change[] {
  const closes = record.expectedCloseDate;
  if (typeof closes !== 'string') return [];
  let time = timeOf(closes.slice(0, 10));
  const count = random.weighted([
    [0, 45],
    [1, 30],
    [2, 17],
    [3, 8],
  ]);
  return times(random, lifetime, count).map((at) => {
    time -= (random.chance(0.78) ? random.int(7, 45) : -random.int(5, 40)) * dayMs;
    return { at, before: { expectedCloseDate: iso(time).slice(0, 10) + closes.slice(10) } };
  });
}

function ownerChanges(
  random: Random,
  { owner }: JsonObject,
  lifetime: Lifetime,
  { owners }: PastSources,
): Change[] {
  const others = owners.filter(({ id }) => id !== idOf(owner));
  if (others.length === 0 || !random.chance(0.08)) return [];
  return times(random, lifetime, 1).map((at) => ({ at, before: { owner: random.pick(others) } }));
}
