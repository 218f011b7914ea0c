import type { Json, JsonObject, Row } from '../json.ts';
import { cents, Random } from './random.ts';
import { profiles } from './words.ts';

/** What the past of the quotes is made from. */
export interface QuoteSources {
  /** Prefix of the random choices. */
  seed: string;
  /** Wire records of the quotes. */
  quotes: JsonObject[];
  now: Date;
}

/** What the past of the opportunities is made from: the tenant as it is now. */
export interface PastSources {
  /** Prefix of the random choices. */
  seed: string;
  profile: number;
  probabilityScale: number;
  /** References to open stages, in order. */
  stages: JsonObject[];
  owners: JsonObject[];
  /** Wire records of the opportunities. */
  opportunities: JsonObject[];
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

/**
 * Versions of each opportunity from its creation until now: how it moved through the stages, how its value, close date
 * and owner changed. The last version is the record as it is.
 */
export function makePast(sources: PastSources): Row[] {
  return sources.opportunities.flatMap((record) => versionsOf(record, sources));
}

function versionsOf(record: JsonObject, sources: PastSources): Row[] {
  const random = new Random(`${sources.seed}/past/${String(record.id)}`);
  const lifetime = lifetimeOf(record, sources.now);
  const changes = [
    ...touched(record, lifetime),
    ...stageChanges(random, record, lifetime, sources),
    ...valueChanges(random, record, lifetime),
    ...dateChanges(random, record, lifetime),
    ...ownerChanges(random, record, lifetime, sources.owners),
    ...deletion(record),
  ];
  return versionsFrom(record, changes, lifetime).map((version) => ({
    opportunityId: record.id,
    ...version,
  }));
}

/** The record after each of its changes, the oldest version first. */
function versionsFrom(record: JsonObject, changes: Change[], { created }: Lifetime): Row[] {
  const versions: Row[] = [];
  let state = record;
  for (const { at, before } of changes.sort((one, other) => other.at - one.at)) {
    versions.push(versionAt(at, state));
    state = { ...state, ...before, updatedAt: iso(at - 1) };
  }
  versions.push(versionAt(created, { ...state, updatedAt: iso(created) }));
  return versions.reverse();
}

const versionAt = (at: number, record: JsonObject): Row => ({
  at: iso(at),
  record: JSON.stringify(record),
});

const iso = (at: number): string => new Date(at).toISOString();
const timeOf = (value: Json | undefined): number => Date.parse(String(value ?? ''));

/**
 * Versions of each quote from its creation until now: drafted, sent, answered or expired; some were repriced, and some
 * were valid longer than at first. The last version is the record as it is.
 */
export function makeQuotePast({ seed, quotes, now }: QuoteSources): Row[] {
  return quotes.flatMap((quote) => {
    const random = new Random(`${seed}/past/${String(quote.id)}`);
    const lifetime = quoteLifetime(quote, now);
    const changes = [
      ...touched(quote, lifetime),
      ...answers(quote, lifetime),
      ...sendings(quote, lifetime),
      ...repricings(random, quote, lifetime),
      ...extensions(random, quote, lifetime),
      ...deletion(quote),
    ];
    return versionsFrom(quote, changes, lifetime).map((version) => ({
      quoteId: quote.id,
      ...version,
    }));
  });
}

const known = (...values: (Json | undefined)[]): number[] =>
  values.map(timeOf).filter((time) => !Number.isNaN(time));

function quoteLifetime(quote: JsonObject, now: Date): Lifetime {
  const { createdAt, updatedAt, sentAt, approvedAt, declinedAt, expiredAt, deletedAt } = quote;
  const answered = known(approvedAt, declinedAt, expiredAt);
  const times = known(createdAt, updatedAt, sentAt, deletedAt);
  const created = Math.min(now.getTime(), ...times, ...answered);
  const end = Math.min(now.getTime(), ...known(deletedAt), ...answered);
  return { created, end: Math.max(created, end) };
}

const matchCase = (status: string, { status: like }: JsonObject): string =>
  like === String(like).toUpperCase() ? status.toUpperCase() : status;

/** Before it was approved, declined or expired, a quote was sent, or a draft if it never was. */
function answers(quote: JsonObject, { created }: Lifetime): Change[] {
  const [at] = known(quote.approvedAt, quote.declinedAt, quote.expiredAt).sort((a, b) => a - b);
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

function lifetimeOf(record: JsonObject, now: Date): Lifetime {
  const { createdAt, updatedAt, stageUpdatedAt, closedAt, deletedAt } = record;
  const times = known(createdAt, updatedAt, stageUpdatedAt, closedAt, deletedAt);
  const created = Math.min(now.getTime(), ...times);
  const ends = [timeOf(closedAt) || timeOf(updatedAt), timeOf(deletedAt)];
  const end = Math.min(now.getTime(), ...ends.filter((time) => !Number.isNaN(time)));
  return { created, end: Math.max(created, end) };
}

/** The last update, of which only its time is known, unless it was the deletion. */
const touched = ({ updatedAt, deletedAt }: JsonObject, { created }: Lifetime): Change[] =>
  timeOf(updatedAt) > created && updatedAt !== deletedAt
    ? [{ at: timeOf(updatedAt), before: {} }]
    : [];

function deletion({ deletedAt }: JsonObject): Change[] {
  const at = timeOf(deletedAt);
  return Number.isNaN(at) ? [] : [{ at, before: { deletedAt: undefined } }];
}

/** Times of changes, the latest first. */
function times(random: Random, { created, end }: Lifetime, count: number): number[] {
  if (end - created < dayMs) return [];
  const drawn = Array.from({ length: count }, () => random.int(created + 1, end - 1));
  return drawn.sort((one, other) => other - one);
}

function stageChanges(
  random: Random,
  record: JsonObject,
  { created }: Lifetime,
  sources: PastSources,
): Change[] {
  const { stages } = sources;
  const entered = timeOf(record.stageUpdatedAt);
  const isClosed = Boolean(record.closedAt);
  const last = isClosed ? random.int(0, stages.length - 1) : positionOf(record, stages);
  if (last < 0 || !(entered > created)) return [];
  const path = stagePath(random, stages.length, last, isClosed);
  const moves = [entered, ...times(random, { created, end: entered }, path.length - 1)];
  return moves.map((at, step) => ({
    at,
    before: {
      ...atStage(path[step] ?? 0, sources),
      stageUpdatedAt: iso(moves[step + 1] ?? created),
      ...(step === 0 && isClosed ? stillOpen(sources) : {}),
    },
  }));
}

const positionOf = ({ pipelineStage }: JsonObject, stages: JsonObject[]): number =>
  stages.findIndex(({ id }) => id === (pipelineStage as JsonObject | undefined)?.id);

/** The stages before the present one, the latest first: some deals go back once, some skip a stage. */
function stagePath(random: Random, count: number, last: number, isClosed: boolean): number[] {
  const goesBack = last + 1 < count && random.chance(0.12) ? [last + 1] : [];
  const before = Array.from({ length: last }, (_, at) => last - 1 - at);
  const passed = before.filter(() => random.chance(0.9));
  const path = [...(isClosed ? [last] : []), ...goesBack, ...passed];
  return path.length > 0 || last > 0 ? path : goesBack;
}

function atStage(position: number, { stages, profile, probabilityScale }: PastSources): JsonObject {
  const open = profiles[profile === 1 ? 1 : 0].stages.filter(([, outcome]) => outcome === 'open');
  const usual = open[position]?.[2] ?? 0;
  return { pipelineStage: stages[position], probability: cents(usual * probabilityScale) };
}

const stillOpen = ({ profile }: PastSources): JsonObject => ({
  statusId: profiles[profile === 1 ? 1 : 0].status.open,
  closedAt: undefined,
});

function valueChanges(random: Random, record: JsonObject, lifetime: Lifetime): Change[] {
  return [
    ...amountChanges(random, record, lifetime, 'onetimeRevenue', 0.4, 1),
    ...amountChanges(random, record, lifetime, 'monthlyRevenue', 0.2, 10),
  ];
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
  ] as const);
  return times(random, lifetime, count).map((at) => {
    time -= (random.chance(0.78) ? random.int(7, 45) : -random.int(5, 40)) * dayMs;
    return { at, before: { expectedCloseDate: iso(time).slice(0, 10) + closes.slice(10) } };
  });
}

function ownerChanges(
  random: Random,
  { owner }: JsonObject,
  lifetime: Lifetime,
  owners: JsonObject[],
): Change[] {
  const others = owners.filter(({ id }) => id !== (owner as JsonObject | undefined)?.id);
  if (others.length === 0 || !random.chance(0.08)) return [];
  return times(random, lifetime, 1).map((at) => ({ at, before: { owner: random.pick(others) } }));
}
