import { listsRestOn } from '../../briefs/rests-on.ts';
import { environmentName } from '../../config/settings.ts';
import { plural } from '../../figures/naming.ts';
import { describeError } from '../../mcp/wording.ts';
import { whatFollows } from '../../reading/list-page.ts';
import { pageSize } from '../../reading/service-pages.ts';
import { type ApiError, ignoreApiError, isApiError } from '../../service/errors.ts';
import type { FieldGap } from '../../service/records/account.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { reservedOf } from '../../service/traffic/traffic-control.ts';
import { gapsOf } from '../../tenant/field-gaps.ts';
import { type Grant, readGrant, writeGrant } from '../../tenant/grants.ts';
import { describeGaps } from '../../tool-kit/answers.ts';
import { restingOn } from './fields.ts';
import {
  type AllRows,
  type Probe,
  type Prober,
  type Probes,
  probeSize,
  type ReportedBudget,
  type Rows,
} from './prober.ts';
import { checkAs, type DoctorCheck, notTried } from './report.ts';

/** Whether the route is permanently unavailable to this key or tenant; other errors may be temporary. */
const isRefusal = (error: unknown): boolean =>
  isApiError(error, 'not-permitted', 'key-refused', 'no-route');

export const checkRoutes = (probes: Probes, grants: ReadonlySet<Grant>): DoctorCheck[] =>
  resources.map((resource) =>
    checkRoute(resource, probes.get(resource), grants.has(readGrant(resource))),
  );

function checkRoute(resource: Resource, probe: Probe | undefined, granted: boolean): DoctorCheck {
  const { path } = routes[resource];
  const route = checkAs(`route:${path}`, path);
  if (!probe) return route('skip', notTried);
  const { error } = probe;
  if (!error) return route('pass', `${sizeOf(probe)}${granted ? '' : '; not granted here'}`);
  if (!isRefusal(error)) {
    const remedy = describeError(error, environmentName);
    return route(granted ? 'fail' : 'warn', 'no valid answer', remedy);
  }
  const why = isApiError(error, 'no-route')
    ? 'this tenant has no such route'
    : 'this key is not permitted to read it';
  if (!granted) return route('skip', `${why}, and it is not granted here`);
  const remedy = `Remove it from ${environmentName('grants')}, as below, or grant it to the key`;
  return route('fail', why, remedy);
}

function sizeOf({ records, total }: Probe): string {
  if (total !== undefined) return plural(total, 'record');
  const count = records.length;
  if (count > probeSize) return `${count} records, in one list`;
  return count < probeSize ? plural(count, 'record') : 'records; the service reports no total';
}

const everyRead = new Set(resources.map(readGrant));

/** As configured: `read` for all reads. */
export function inShort(grants: ReadonlySet<Grant>): string {
  const reads = [...everyRead].every((grant) => grants.has(grant)) ? ['read'] : [];
  const others = [...grants].filter((grant) => reads.length === 0 || !everyRead.has(grant));
  return [...reads, ...others].join(',');
}

/**
 * The grants to configure: every resource that this key can read. A resource whose check gave no clear result
 * keeps its configured grant. The write grant is kept if opportunities can be read; it is not tested.
 * @returns undefined when nothing can be read
 */
export function grantsFor(probes: Probes, grants: ReadonlySet<Grant>): string | undefined {
  if (![...probes.values()].some(({ error }) => !error)) return undefined;
  const readable = resources.filter((resource) => {
    if (resource === 'category_tree') return false;
    const probe = probes.get(resource);
    const isUnclear = !probe || (probe.error && !isRefusal(probe.error));
    return isUnclear ? grants.has(readGrant(resource)) : !probe.error;
  });
  const mayWrite = grants.has(writeGrant) && readable.includes('opportunity');
  const write: readonly Grant[] = mayWrite ? [writeGrant] : [];
  return inShort(new Set([...readable.map(readGrant), ...write]));
}

const address = checkAs('address', 'address');
const key = checkAs('key', 'key');

export function checkAddress(baseUrl: URL, probes: Probes): DoctorCheck[] {
  const all = [...probes.values()];
  const allowed = all.find(({ error }) => !error || isApiError(error, 'not-permitted'));
  const refused = all.find(({ error }) => isApiError(error, 'key-refused'))?.error;
  const [first] = all;
  const remedy = (error?: ApiError) => error && describeError(error, environmentName);
  const answers =
    allowed || refused || isApiError(first?.error, 'rate-limited')
      ? address('pass', `${baseUrl.href} answers`)
      : address('fail', `${baseUrl.href} does not answer as the API`, remedy(first?.error));
  if (allowed) return [answers, key('pass', 'accepted')];
  if (!refused) return [answers, key('skip', notTried)];
  return [answers, key('fail', `not accepted (status ${refused.facts.status})`, remedy(refused))];
}

export function checkBudget(reported: ReportedBudget, configured: number): DoctorCheck {
  const { remaining, limit = configured, retryAfter } = reported;
  const budget = checkAs('budget', 'rate budget');
  if (retryAfter !== undefined)
    return budget('fail', `exhausted for ${retryAfter} s`, 'Run doctor again after that');
  if (remaining === undefined)
    return budget('skip', `not reported; ${configured} requests in ten minutes are assumed`);
  const left = `${remaining} of ${limit} requests remaining in these ten minutes`;
  if (remaining <= reservedOf(Math.min(configured, limit))) {
    const remedy = 'They are reserved for single records and pages: ask again in ten minutes';
    return budget('warn', left, remedy);
  }
  if (limit === configured) return budget('pass', left);
  const remedy = `Set ${environmentName('rateLimit')}=${limit}`;
  return budget('warn', `${left}; ${configured} are configured`, remedy);
}

/** The routes of sales records, which are documented to be paged: small records first. */
const main = ['contact', 'company', 'opportunity', 'product', 'quote'] as const;

/** Checks whether the fields of the records that were read are known. */
export function checkForms(rows: AllRows): DoctorCheck[] {
  const hasRecords = main.some((resource) => rows.get(resource)?.records.length);
  const failures = main.flatMap((resource) => checkFields(resource, rows.get(resource)));
  const isKnown = hasRecords && failures.length === 0;
  return isKnown ? [checkAs('fields', 'fields')('pass', 'known')] : failures;
}

/** Lines of the file of fields that name what no record has. */
export function checkMapping({ client: { fields } }: Prober): DoctorCheck[] {
  const remedy = `Check the right side in ${environmentName('fieldsFile')}, unless few records have it`;
  const file = checkAs('fields:file', 'file of fields');
  const unused = resources.flatMap((resource) => fields.unused(resource));
  return unused.map(({ text }) => file('warn', `no record read here has ${text}`, remedy));
}

/** Records of another form: answers say which fields are missing. */
function checkFields(resource: Resource, rows: Rows | undefined): DoctorCheck[] {
  const fields = checkAs(`fields:${routes[resource].path}`, 'fields');
  const found = rows ? gapsOf(resource, rows.account, restingOn(resource)) : [];
  // What no record has may be of no use to the tenant, unless lists show it.
  const shown: readonly string[] = listsRestOn[resource] ?? [];
  const gaps = found.filter(
    ({ example, record, field }) =>
      example !== undefined || shown.includes(record === 'quote_line' ? `items.${field}` : field),
  );
  if (gaps.length === 0) return [];
  // Records with hardly more than a name may be just that.
  const isUnread = ({ field, example, rows, of }: FieldGap) =>
    example !== undefined && (field !== 'fields' || rows === of);
  const status = gaps.some(isUnread) ? 'fail' : 'warn';
  const remedy = `Name in ${environmentName('fieldsFile')} where they are, as below`;
  return [fields(status, describeGaps(gaps), remedy)];
}

/** Checks how the service counts and pages, with what the server itself learns from its answers. */
export async function checkPaging(prober: Prober, probes: Probes): Promise<DoctorCheck[]> {
  const read = main.filter((it) => probes.has(it) && !probes.get(it)?.error);
  const movable = read.find((it) => (probes.get(it)?.total ?? probeSize + 1) > probeSize);
  const offset = await checkOffset(prober, movable);
  return [checkCounts(prober, probes, read), offset];
}

function checkCounts(
  { pages }: Prober,
  probes: Probes,
  searched: readonly Resource[],
): DoctorCheck {
  const counts = checkAs('paging:count', 'counts');
  if (searched.length === 0) return counts('skip', 'no records could be read');
  const limited = searched.filter((resource) => probes.get(resource)?.countIsLimit);
  if (limited.length > 0) {
    const paths = limited.map((resource) => routes[resource].path).join(', ');
    const remedy = 'Answers about these say that they cover a part; filters help';
    return counts('warn', `may stop at a limit for ${paths}`, remedy);
  }
  const isCounted = searched.every((resource) => {
    const { counts: counted, isCounted = false } = pages.traits(resource);
    return counted !== 'page' && isCounted;
  });
  return isCounted
    ? counts('pass', 'of all records')
    : counts('warn', 'not sent, or of a page only: all pages are read to the end');
}

async function checkOffset(
  { pages, call, canAsk }: Prober,
  resource: Resource | undefined,
): Promise<DoctorCheck> {
  const offset = checkAs('paging:offset', 'paging');
  const { pageParam } = pages;
  const setting = environmentName('pageParam');
  const onePage = 'only what one page holds can be read';
  if (resource === undefined) return offset('skip', 'too few records to check');
  if (!canAsk) return offset('skip', notTried);
  const remedy = `Name the parameter that counts records in ${setting}, if the service has one`;
  if (pageParam === undefined) return offset('warn', `no offset is configured: ${onePage}`, remedy);
  const works = await pages.offsetWorks(resource, call).catch(ignoreApiError());
  if (!works) return offset('warn', `${pageParam} does not count records: ${onePage}`, remedy);
  const query = { size: pageSize };
  const follows = await pages
    .page(resource, query, call)
    .then((page) => whatFollows({ pages, resource, call }, query, page))
    .catch(ignoreApiError());
  if (follows !== 'hidden') return offset('pass', `${pageParam} is honoured`);
  const hiding = `${pageParam} counts records that no list shows: answers say that they cover a part`;
  return offset('warn', hiding, 'The key may not be permitted to see all records');
}
