import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { ignoreApiError, isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { routes } from '../../service/routes.ts';
import type { Prober, Probes } from './prober.ts';
import { checkAs, type DoctorCheck, notTried } from './report.ts';
import { probeSize } from './routes.ts';

/** The routes that are documented to be paged, small records first. */
const pagedResources = ['contact', 'company', 'opportunity', 'product', 'quote'] as const;
/** Of one page of a reading. */
const pageSize = 100;

/** Checks how the service counts and pages, with what the server itself learns from its answers. */
export async function checkPaging(prober: Prober, probes: Probes): Promise<DoctorCheck[]> {
  const samples = pagedResources.flatMap((resource) => {
    const probe = probes.get(resource);
    return probe && !probe.error ? [{ resource, total: probe.total }] : [];
  });
  const movable = samples.find(({ total }) => total === undefined || total > probeSize);
  const [largest] = samples.toSorted((one, other) => (other.total ?? 0) - (one.total ?? 0));
  const size = await checkSize(prober, largest?.resource);
  const offset = await checkOffset(prober, movable?.resource);
  const searched = samples.map(({ resource }) => resource);
  const isHidden = searched.some((it) => prober.pages.traits(it).shortPages === 'hidden');
  return [checkCounts(prober, searched), offset, size, ...(isHidden ? [hiddenRecords] : [])];
}

const hiddenRecords = checkAs('paging:places', 'hidden records')(
  'warn',
  'some records are counted, but shown in no list',
  'Answers say that they cover a part. The key may not be permitted to see all records',
);

function checkCounts({ pages }: Prober, searched: readonly Resource[]): DoctorCheck {
  const counts = checkAs('paging:count', 'counts');
  if (searched.length === 0) return counts('skip', 'no records could be read');
  const limited = searched.filter((resource) => pages.traits(resource).countLimit !== undefined);
  if (limited.length > 0) {
    const paths = limited.map((resource) => routes[resource].path).join(', ');
    const remedy = 'Answers about these say that they cover a part; filters help';
    return counts('warn', `stop at a limit for ${paths}: there are more records`, remedy);
  }
  const isCounted = searched.every((resource) => {
    const { counts: counted, countedIn = 'none' } = pages.traits(resource);
    return counted !== 'page' && countedIn !== 'none';
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
  if (pageParam === undefined) {
    const remedy = `Without ${setting}=none the server finds out what the service understands`;
    return offset('warn', `no offset is configured: ${onePage}`, remedy);
  }
  await pages.offsets.learn(resource, {}, call).catch(ignoreApiError());
  const found = pages.traits(resource).offset;
  if (found === 'ignored') {
    const remedy = `Name the offset parameter in ${setting}, if the service has one`;
    return offset('warn', `${pageParam} is ignored: ${onePage}`, remedy);
  }
  if (found === undefined)
    return offset('warn', `${pageParam} returned none of the expected records`);
  const { name, counts } = found;
  const meaning = counts === 'records' ? `${name} works` : `${name} counts ${counts}`;
  if (name !== pageParam) {
    const remedy = `The server finds this out itself; ${setting}=${name} saves the requests`;
    return offset('warn', `${pageParam} is not honoured; ${meaning}`, remedy);
  }
  return counts === 'records' ? offset('pass', `${name} is honoured`) : offset('warn', meaning);
}

async function checkSize(prober: Prober, resource: Resource | undefined): Promise<DoctorCheck> {
  const size = checkAs('paging:size', 'page size');
  const { pages, call } = prober;
  if (resource === undefined) return size('skip', 'too few records to check');
  if (!prober.canAsk) return size('skip', notTried);
  try {
    const { records, total = Number.POSITIVE_INFINITY } = await pages.page(
      resource,
      { size: pageSize },
      call,
    );
    const { maxSize } = pages.traits(resource);
    if (maxSize === 'none')
      return size('warn', 'the size parameter is refused; the server leaves it out');
    if (maxSize !== undefined)
      return size('warn', `more than ${maxSize} is refused; the server asks for ${maxSize}`);
    await learnPlaces(prober, resource, records.length, total);
    return size('pass', `${records.length} records where ${pageSize} were requested`);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return size('fail', `${pageSize} is not answered`, describeError(error, environmentName));
  }
}

/** A short page may lack records that the offset counts: then the page after it repeats some of its records. */
async function learnPlaces(
  { pages, call }: Prober,
  resource: Resource,
  rows: number,
  total: number,
): Promise<void> {
  const isShort = rows > 0 && rows < pageSize && rows < total;
  if (!isShort || pages.profile(resource).offset === 'none') return;
  const first = pages.sample(resource)?.keys ?? [];
  const page = await pages.page(resource, { size: 1, from: rows }, call).catch(ignoreApiError());
  const id = page?.records[0]?.id;
  if (id !== undefined)
    pages.learn(resource, { shortPages: first.includes(id) ? 'hidden' : 'fewer' });
}
