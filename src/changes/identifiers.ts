/**
 * Opportunities by external identifier. The API has no such route: they are found by the service's search where that is
 * proven to find them, otherwise by reading all of them.
 */
import type { Opportunity } from '../service/records/records.ts';
import { searchRecords } from '../tenant/lookup.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { quote, trusted, wording } from '../text/untrusted-text.ts';
import { ChangeRefused } from './refusal.ts';

/** Up to so many opportunities are read as a whole, so that look-alikes in other scripts are found too. */
const sampleSize = 100;

/** @throws ChangeRefused if not all opportunities could be read */
export async function lookForAll(
  tenant: Tenant,
  externalId: string,
  call: ToolCall,
): Promise<readonly Opportunity[]> {
  const isFindable = isPlain(externalId) && (await searchesIdentifiers(tenant, call));
  const found = isFindable
    ? await searchRecords(tenant, 'opportunity', externalId, call)
    : undefined;
  if (found?.isWhole)
    return alikeAmong([...(tenant.cached('opportunity') ?? []), ...found.records], externalId);
  const sample = await sampleOf(tenant, call);
  if (sample.isWhole) return alikeAmong(sample.records, externalId);
  tenant.updates.invalidate('opportunity');
  return alikeAmongAll(tenant, externalId, call);
}

/**
 * Those that the service's search finds; none where it ignores the text.
 * @throws NotGranted, ApiError
 */
export async function alikeFound(
  tenant: Tenant,
  externalId: string,
  call: ToolCall,
): Promise<readonly Opportunity[]> {
  const { records, isWhole } = await searchRecords(tenant, 'opportunity', externalId, call);
  const written = JSON.stringify(externalId).slice(1, -1).toLowerCase();
  const mentions = (record: Opportunity) => JSON.stringify(record).toLowerCase().includes(written);
  return isWhole || records.every(mentions) ? alikeAmong(records, externalId) : [];
}

/** Opportunities whose identifier is this one, or looks like it. */
async function alikeAmong(
  records: readonly Opportunity[],
  externalId: string,
): Promise<readonly Opportunity[]> {
  const { looksLike } = await import('../text/look-alikes.ts');
  const isAlike = looksLike(externalId);
  return records.filter(
    ({ externalIdentifier: other }) =>
      other !== undefined && (other === externalId || isAlike(other)),
  );
}

/** Only letters, digits and punctuation of ASCII: only letter case can make another text look the same. */
const isPlain = (externalId: string): boolean => /^[!-~]+$/.test(externalId);

interface Sample {
  records: readonly Opportunity[];
  total: number;
  /** Whether these are all opportunities, read just now. */
  isWhole: boolean;
}

const samples = new WeakMap<ToolCall, { tenant: Tenant; sample: Promise<Sample> }>();

/** The opportunities that were read last, or the first page of them; one reading a call. */
export function sampleOf(tenant: Tenant, call: ToolCall): Promise<Sample> {
  const known = samples.get(call);
  if (known?.tenant === tenant) return known.sample;
  const sample = readSample(tenant, call);
  samples.set(call, { tenant, sample });
  return sample;
}

async function readSample(tenant: Tenant, call: ToolCall): Promise<Sample> {
  const records = tenant.cached('opportunity');
  if (records) return { records, total: records.length, isWhole: false };
  const page = await tenant.firstPage('opportunity', { size: sampleSize }, call);
  const { total = Infinity, countIsLimit } = page;
  const isWhole = total <= page.records.length && !countIsLimit;
  return { records: page.records, total, isWhole };
}

/**
 * Whether the service's search finds identifiers, where there are too many opportunities to read them all: it is asked
 * for that of a known one, in the other letter case, and may find only that one.
 */
async function searchesIdentifiers(tenant: Tenant, call: ToolCall): Promise<boolean> {
  const learnt = tenant.writes.learnt('query externalIdentifier');
  if (learnt !== undefined) return learnt;
  const { records, total } = await sampleOf(tenant, call);
  if (total <= sampleSize) return false;
  const known = records.find(({ externalIdentifier = '' }) => /[a-z]/i.test(externalIdentifier));
  if (known?.externalIdentifier === undefined) return false;
  const [id, upper] = [known.externalIdentifier, known.externalIdentifier.toUpperCase()];
  const other = id === upper ? id.toLowerCase() : upper;
  const found = await searchRecords(tenant, 'opportunity', other, call);
  const isFound = found.records.some((record) => record.id === known.id);
  const works = isFound && (found.isWhole || found.records.length < total);
  tenant.writes.learn('query externalIdentifier', works);
  return works;
}

/** The same among all opportunities. @throws ChangeRefused if not all could be read; NotGranted, ApiError */
export async function alikeAmongAll(
  tenant: Tenant,
  externalId: string,
  call: ToolCall,
): Promise<readonly Opportunity[]> {
  const { records, coverage } = await tenant.collection('opportunity', call);
  if (coverage.complete) return alikeAmong(records, externalId);
  throw new ChangeRefused(
    wording`Only ${coverage.read} of ${coverage.total} opportunities could be read (${trusted(coverage.reason ?? 'for an unknown reason')}), so it is not certain that no other has the external identifier ${quote(externalId)}, by which the API writes. Try later.`,
  );
}
