import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import type { OffsetMeaning } from '../../reading/profile.ts';
import type { ServicePages } from '../../reading/service-pages.ts';
import { isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { checkAs, type Finding, notTried } from './check.ts';
import type { Prober, Probes } from './prober.ts';
import { probeSize } from './routes.ts';

/** The routes that are documented to be paged, small records first. */
const pagedResources = ['contact', 'company', 'opportunity', 'product', 'quote'] as const;
/** Of one page of a reading, and of the page that is asked for where the offset does not help. */
const [pageSize, wholeSize] = [100, 1_000];
const partOfAll = { of: pagedResources, is: 'partial' } as const;

/** Checks how the service counts and pages, with what the server itself learns from its answers. */
export async function checkPaging(
  prober: Prober,
  probes: Probes,
  pages: ServicePages,
): Promise<Finding[]> {
  const samples = pagedResources.flatMap((resource) => {
    const probe = probes.get(resource);
    return probe && !probe.error ? [{ resource, total: probe.total }] : [];
  });
  const movable = samples.find(({ total }) => total === undefined || total > probeSize);
  const [largest] = samples.toSorted((one, other) => (other.total ?? 0) - (one.total ?? 0));
  const size = await checkSize(prober, pages, largest?.resource);
  return [
    checkCounts(
      samples.map(({ resource }) => resource),
      pages,
    ),
    await checkOffset(prober, pages, movable?.resource),
    size,
    ...(size.status === 'pass' ? checkPlaces(pages) : []),
  ];
}

function checkCounts(searched: readonly Resource[], pages: ServicePages): Finding {
  const counts = checkAs('paging:count', 'counts');
  if (searched.length === 0) return counts('skip', 'no records could be read');
  const limited = searched.filter((resource) => pages.traits(resource).countLimit !== undefined);
  const [first] = limited;
  if (first !== undefined) {
    const paths = limited.map((resource) => routes[resource].path).join(', ');
    return counts(
      'warn',
      `stop at ${pages.traits(first).countLimit} for ${paths}: there are more records`,
      'Answers about these say that they cover a part; filters help',
      { of: limited, is: 'partial' },
    );
  }
  const traits = searched.map((resource) => pages.traits(resource));
  if (traits.some((it) => it.counts === 'page'))
    return counts('warn', 'count the rows of a page only; all pages are read to the end');
  const fields = new Set(traits.map(({ countedIn = 'none' }) => countedIn));
  return fields.has('none')
    ? counts('warn', 'not sent; all pages are read to the end, which takes more requests')
    : counts('pass', `in ${[...fields].join(', ')}`);
}

const offset = checkAs('paging:offset', 'paging');

async function checkOffset(
  prober: Prober,
  pages: ServicePages,
  resource: Resource | undefined,
): Promise<Finding> {
  if (resource === undefined) return offset('skip', 'too few records to check');
  if (!prober.canAsk) return offset('skip', notTried);
  const { pageParam } = pages;
  if (pageParam === undefined) return withoutOffset(prober, pages, resource);
  await pages.learnOffset(resource, {}, prober.call).catch(unlessApiError);
  const found = pages.traits(resource).offset;
  if (found === 'ignored') return withoutOffset(prober, pages, resource);
  if (found !== undefined) return describeOffset(found, pageParam);
  return offset(
    'warn',
    `${pageParam} returned none of the expected records`,
    'The order of records may change between requests: answers say so where pages do not fit together',
    partOfAll,
  );
}

function describeOffset({ name, counts }: OffsetMeaning, pageParam: string): Finding {
  const meaning = counts === 'records' ? `${name} works` : `${name} counts ${counts}`;
  if (name !== pageParam) {
    const remedy = `The server finds this out itself; ${environmentName('pageParam')}=${name} saves the requests`;
    return offset('warn', `${pageParam} is not honoured; ${meaning}`, remedy);
  }
  return counts === 'records' ? offset('pass', `${name} is honoured`) : offset('warn', meaning);
}

/** Where every page is the first one: how much of a collection one page can hold. */
async function withoutOffset(
  prober: Prober,
  { pageParam }: ServicePages,
  resource: Resource,
): Promise<Finding> {
  const isConfigured = pageParam !== undefined;
  const why = isConfigured ? `${pageParam} is ignored` : 'no offset is configured';
  const setting = environmentName('pageParam');
  const remedy = isConfigured
    ? `Name the offset parameter in ${setting}, if the service has one`
    : `Without ${setting}=none the server finds out what the service understands`;
  const page = await prober.page(resource, { size: wholeSize }).catch(unlessApiError);
  const rows = page?.records.length ?? probeSize;
  if (page?.total !== undefined && rows >= page.total)
    return offset('warn', `${why}; a page of ${wholeSize} holds all ${page.total} records`, remedy);
  return offset('warn', `${why}: only the first ${rows} records can be read`, remedy, partOfAll);
}

/** An error is ignored here: the routes were checked before. */
export function unlessApiError(error: unknown): undefined {
  if (!isApiError(error)) throw error;
}

async function checkSize(
  prober: Prober,
  pages: ServicePages,
  resource: Resource | undefined,
): Promise<Finding> {
  const size = checkAs('paging:size', 'page size');
  if (resource === undefined) return size('skip', 'too few records to check');
  if (!prober.canAsk) return size('skip', notTried);
  try {
    const page = await pages.page(resource, { size: pageSize }, prober.call);
    const { maxSize } = pages.traits(resource);
    if (maxSize === 'none')
      return size('warn', 'the size parameter is refused; the server leaves it out');
    if (maxSize !== undefined)
      return size('warn', `more than ${maxSize} is refused; the server asks for ${maxSize}`);
    const { total = Number.POSITIVE_INFINITY } = page;
    await learnPlaces(prober, pages, resource, page.records.length, total);
    return size('pass', describeSize(page.records.length, total));
  } catch (error) {
    if (!isApiError(error)) throw error;
    const remedy = describeError(error, environmentName);
    return size('fail', `${pageSize} is not answered`, remedy, { of: [resource], is: 'wrong' });
  }
}

function describeSize(received: number, total: number): string {
  if (received > pageSize)
    return `ignored: ${received} records returned where ${pageSize} were requested`;
  if (received < Math.min(pageSize, total)) return `clamped to ${received}`;
  return `${received} records in one page`;
}

/** A short page may lack records that the offset counts: then the page after it repeats some of its records. */
async function learnPlaces(
  prober: Prober,
  pages: ServicePages,
  resource: Resource,
  rows: number,
  total: number,
): Promise<void> {
  const isShort = rows > 0 && rows < pageSize && rows < total;
  if (!isShort || !prober.canAsk || pages.profile(resource).offset === 'none') return;
  const first = pages.sample(resource)?.keys ?? [];
  const query = { size: 1, from: rows };
  const page = await pages.page(resource, query, prober.call).catch(unlessApiError);
  const id = page?.records[0]?.id;
  if (id === undefined) return;
  pages.learn(resource, { shortPages: first.includes(id) ? 'hidden' : 'fewer' });
}

function checkPlaces(pages: ServicePages): Finding[] {
  if (!resources.some((resource) => pages.traits(resource).shortPages === 'hidden')) return [];
  const places = checkAs('paging:places', 'hidden records');
  return [
    places(
      'warn',
      'some records are counted, but shown in no list',
      'Answers say that they cover a part. The key may not be permitted to see all records',
      { of: resources, is: 'partial' },
    ),
  ];
}
