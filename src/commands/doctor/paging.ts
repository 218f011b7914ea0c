import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import type { OffsetMeaning } from '../../reading/profile.ts';
import type { ServicePages } from '../../reading/service-pages.ts';
import { isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { check, checkAs, type Finding, notTried } from './check.ts';
import type { Prober, Probes } from './prober.ts';
import { probeSize } from './routes.ts';

/** The routes that are documented to be paged, small records first. */
const pagedResources = ['contact', 'company', 'opportunity', 'product', 'quote'] as const;
/** Of one page of a reading, and of the page that is asked for where the offset does not help. */
const [pageSize, wholeSize] = [100, 1_000];

/** What the paging checks were made on. */
interface Sample {
  resource: Resource;
  total: number | undefined;
}

/** Checks how the service counts and pages, with what the server itself learns from its answers. */
export async function checkPaging(
  prober: Prober,
  probes: Probes,
  pages: ServicePages,
): Promise<Finding[]> {
  const samples = pagedResources.flatMap((resource): Sample[] => {
    const probe = probes.get(resource);
    return probe && !probe.error ? [{ resource, total: probe.total }] : [];
  });
  const movable = samples.find(({ total }) => total === undefined || total > probeSize);
  const largest = samples.reduce<Sample | undefined>(
    (most, one) => ((most?.total ?? -1) >= (one.total ?? 0) ? most : one),
    undefined,
  );
  const size = await checkSize(prober, pages, largest);
  return [
    checkCounts(probes, pages),
    await checkOffset(prober, pages, movable),
    size,
    ...(size.status === 'pass' ? checkPlaces(pages) : []),
  ];
}

function checkCounts(probes: Probes, pages: ServicePages): Finding {
  const counts = checkAs('paging:count', 'counts');
  const read = resources.filter((resource) => probes.get(resource)?.error === undefined);
  const searched = pagedResources.filter(
    (resource) => probes.has(resource) && read.includes(resource),
  );
  const limited = searched.filter((resource) => pages.traits(resource).countLimit !== undefined);
  const [first] = limited;
  if (first !== undefined) {
    const { countLimit } = pages.traits(first);
    const paths = limited.map((resource) => routes[resource].path).join(', ');
    const found = counts(
      'warn',
      `stop at ${countLimit} for ${paths}: there are more records`,
      'Answers about these say that they cover a part; filters help',
    );
    return { ...found, effect: { of: limited, is: 'partial' } };
  }
  const fields = new Set(searched.map((resource) => pages.traits(resource).countedIn ?? 'none'));
  const ofPage = searched.some((resource) => pages.traits(resource).counts === 'page');
  if (searched.length === 0) return counts('skip', 'no records could be read');
  if (ofPage) return counts('warn', 'count the rows of a page only; all pages are read to the end');
  if (fields.has('none')) {
    return counts('warn', 'not sent; all pages are read to the end, which takes more requests');
  }
  return counts('pass', `in ${[...fields].join(', ')}`);
}

const offset = checkAs('paging:offset', 'paging');

async function checkOffset(
  prober: Prober,
  pages: ServicePages,
  sample: Sample | undefined,
): Promise<Finding> {
  if (!sample) return offset('skip', 'too few records to check');
  if (!prober.canAsk) return offset('skip', notTried);
  const { pageParam } = pages;
  if (pageParam === undefined) return withoutOffset(prober, pages, sample);
  await pages.learnOffset(sample.resource, {}, prober.call).catch(unlessApiError);
  const found = pages.traits(sample.resource).offset;
  if (found === undefined) {
    return {
      ...offset(
        'warn',
        `${pageParam} returned none of the expected records`,
        'The order of records may change between requests: answers say so where pages do not fit together',
      ),
      effect: { of: pagedResources, is: 'partial' },
    };
  }
  if (found === 'ignored') return withoutOffset(prober, pages, sample);
  const meaning = describeOffset(found);
  if (found.name === pageParam && found.counts === 'records')
    return offset('pass', `${pageParam} is honoured`);
  const ignored = found.name === pageParam ? '' : `${pageParam} is not honoured; `;
  const remedy =
    found.name === pageParam
      ? undefined
      : `The server finds this out itself; ${environmentName('pageParam')}=${found.name} saves the requests`;
  return offset('warn', `${ignored}${meaning}`, remedy);
}

const describeOffset = ({ name, counts }: OffsetMeaning): string =>
  counts === 'records' ? `${name} works` : `${name} counts ${counts}`;

/** Where every page is the first one: how much of a collection one page can hold. */
async function withoutOffset(
  prober: Prober,
  pages: ServicePages,
  { resource }: Sample,
): Promise<Finding> {
  const why =
    pages.pageParam === undefined ? 'no offset is configured' : `${pages.pageParam} is ignored`;
  const page = await prober.page(resource, { size: wholeSize }).catch(unlessApiError);
  const rows = page?.records.length ?? probeSize;
  const remedy =
    pages.pageParam === undefined
      ? `Without ${environmentName('pageParam')}=none the server finds out what the service understands`
      : `Name the offset parameter in ${environmentName('pageParam')}, if the service has one`;
  if (page?.total !== undefined && rows >= page.total)
    return offset('warn', `${why}; a page of ${wholeSize} holds all ${page.total} records`, remedy);
  const found = offset('warn', `${why}: only the first ${rows} records can be read`, remedy);
  return { ...found, effect: { of: pagedResources, is: 'partial' } };
}

/** An error is ignored here: the routes were checked before. */
export function unlessApiError(error: unknown): undefined {
  if (!isApiError(error)) throw error;
}

async function checkSize(
  prober: Prober,
  pages: ServicePages,
  sample: Sample | undefined,
): Promise<Finding> {
  const size = checkAs('paging:size', 'page size');
  if (!sample) return size('skip', 'too few records to check');
  if (!prober.canAsk) return size('skip', notTried);
  const { resource } = sample;
  try {
    const { records, total = Number.POSITIVE_INFINITY } = await pages.page(
      resource,
      { size: pageSize },
      prober.call,
    );
    const { maxSize } = pages.traits(resource);
    if (maxSize === 'none')
      return size('warn', 'the size parameter is refused; the server leaves it out');
    if (maxSize !== undefined)
      return size('warn', `more than ${maxSize} is refused; the server asks for ${maxSize}`);
    await learnPlaces(prober, pages, resource, records.length, total);
    return size('pass', describeSize(records.length, total));
  } catch (error) {
    if (!isApiError(error)) throw error;
    const found = size(
      'fail',
      `${pageSize} is not answered`,
      describeError(error, environmentName),
    );
    return { ...found, effect: { of: [resource], is: 'wrong' } };
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
  const page = await pages
    .page(resource, { size: 1, from: rows }, prober.call)
    .catch(unlessApiError);
  const id = page?.records[0]?.id;
  if (id === undefined) return;
  pages.learn(resource, { shortPages: first.includes(id) ? 'hidden' : 'fewer' });
}

function checkPlaces(pages: ServicePages): Finding[] {
  const hides = resources.some((resource) => pages.traits(resource).shortPages === 'hidden');
  if (!hides) return [];
  const found = check(
    'paging:places',
    'hidden records',
    'warn',
    'some records are counted, but shown in no list',
    'Answers say that they cover a part. The key may not be permitted to see all records',
  );
  return [{ ...found, effect: { of: resources, is: 'partial' } }];
}
