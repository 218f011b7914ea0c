import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { pageSize } from '../../reading/service-pages.ts';
import { ignoreApiError, isApiError } from '../../service/errors.ts';
import type { ApiRecord, Resource } from '../../service/records/records.ts';
import { routes } from '../../service/routes.ts';
import type { Prober, Probes } from './prober.ts';
import { checkAs, type DoctorCheck, notTried } from './report.ts';
import { probeSize } from './routes.ts';

/** The routes that are documented to be paged, small records first. */
const pagedResources = ['contact', 'company', 'opportunity', 'product', 'quote'] as const;

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
  return [checkCounts(prober, probes, searched), offset, ...size];
}

const hiddenRecords = checkAs('paging:places', 'hidden records')(
  'warn',
  'some records are counted, but shown in no list',
  'Answers say that they cover a part. The key may not be permitted to see all records',
);

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
  const remedy = `Name the parameter that counts records in ${setting}, if the service has one`;
  if (pageParam === undefined) return offset('warn', `no offset is configured: ${onePage}`, remedy);
  const works = await pages.offsetWorks(resource, call).catch(ignoreApiError());
  if (works) return offset('pass', `${pageParam} is honoured`);
  return offset('warn', `${pageParam} does not count records: ${onePage}`, remedy);
}

async function checkSize(prober: Prober, resource: Resource | undefined): Promise<DoctorCheck[]> {
  const size = checkAs('paging:size', 'page size');
  const { pages, call } = prober;
  if (resource === undefined) return [size('skip', 'too few records to check')];
  if (!prober.canAsk) return [size('skip', notTried)];
  try {
    const { records, total = Number.POSITIVE_INFINITY } = await pages.page(
      resource,
      { size: pageSize },
      call,
    );
    const { maxSize } = pages.traits(resource);
    if (maxSize === 'none')
      return [size('warn', 'the size parameter is refused; the server leaves it out')];
    if (maxSize !== undefined)
      return [size('warn', `more than ${maxSize} is refused; the server asks for ${maxSize}`)];
    const found = size('pass', `${records.length} records where ${pageSize} were requested`);
    const isHidden = await hidesRecords(prober, resource, records, total);
    return isHidden ? [found, hiddenRecords] : [found];
  } catch (error) {
    if (!isApiError(error)) throw error;
    return [size('fail', `${pageSize} is not answered`, describeError(error, environmentName))];
  }
}

/** A short page may lack records that the offset counts: then the page after it repeats some of its records. */
async function hidesRecords(
  { pages, call }: Prober,
  resource: Resource,
  records: readonly ApiRecord[],
  total: number,
): Promise<boolean> {
  const from = records.length;
  if (from === 0 || from >= Math.min(pageSize, total) || !pages.canPage(resource)) return false;
  const page = await pages.page(resource, { size: 1, from }, call).catch(ignoreApiError());
  const id = page?.records[0]?.id;
  return id !== undefined && records.some((record) => record.id === id);
}
