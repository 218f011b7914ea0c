import { isApiError } from '../../api/errors.ts';
import { routes } from '../../api/routes.ts';
import { environmentName } from '../../config.ts';
import type { Resource } from '../../records/records.ts';
import { check, type DoctorCheck } from './check.ts';
import type { Probe, Prober } from './prober.ts';
import { type Probes, probeSize } from './routes.ts';

/** Resources with small records first: only their number matters. */
const pagedResources: readonly Resource[] = [
  'contact',
  'company',
  'opportunity',
  'product',
  'quote',
];
/** Common names of offset parameters. */
const otherOffsetNames = ['from', 'offset', 'skip'];
const largeSize = 500;
/** Page size used for reading collections. */
const requestedSize = 100;

interface Sample {
  path: string;
  total: number;
  ids: unknown[];
}

/** Checks whether the offset works and how large pages may be, with one or two requests each. */
export async function checkPaging(
  prober: Prober,
  probes: Probes,
  pageParam: string,
): Promise<DoctorCheck[]> {
  const samples = pagedResources.flatMap((resource) => sampleOf(resource, probes.get(resource)));
  const movable = samples.find(({ total, ids }) => total > probeSize && ids.length === probeSize);
  const largest = samples.reduce<Sample | undefined>(
    (most, one) => (most && most.total >= one.total ? most : one),
    undefined,
  );
  return [
    movable && prober.hasTime
      ? await checkOffset(prober, movable, pageParam)
      : offset('skip', 'too few records to check'),
    largest && prober.hasTime
      ? await checkSize(prober, largest)
      : size('skip', 'too few records to check'),
  ];
}

function sampleOf(resource: Resource, probe: Probe | undefined): Sample[] {
  const { page } = probe ?? {};
  if (page?.total === undefined || page.total === 0) return [];
  const ids = page.records.map((record) => record.id).filter((id) => id !== undefined);
  return [{ path: routes[resource].path, total: page.total, ids }];
}

const offset = (status: DoctorCheck['status'], detail: string, remedy?: string): DoctorCheck =>
  check('paging:offset', 'paging', status, detail, remedy);
const size = (status: DoctorCheck['status'], detail: string, remedy?: string): DoctorCheck =>
  check('paging:size', 'page size', status, detail, remedy);

type MoveResult = 'moves' | 'ignored' | 'elsewhere';

/** Requests the page that should start at the second record. */
async function tryOffset(prober: Prober, { path, ids }: Sample, name: string): Promise<MoveResult> {
  const { page, error } = await prober.page(path, { size: String(probeSize), [name]: '1' });
  const first = page?.records[0]?.id;
  if (error || first === undefined) return isApiError(error, 'refused') ? 'ignored' : 'elsewhere';
  if (first === ids[1]) return 'moves';
  return first === ids[0] ? 'ignored' : 'elsewhere';
}

async function checkOffset(
  prober: Prober,
  sample: Sample,
  pageParam: string,
): Promise<DoctorCheck> {
  const configured = pageParam === 'none' ? undefined : pageParam;
  const move = configured === undefined ? 'ignored' : await tryOffset(prober, sample, configured);
  if (move === 'moves') return offset('ok', `${configured} is honoured`);
  if (move === 'elsewhere') {
    const detail = `${configured}=1 returns neither the first record nor the second`;
    const remedy =
      'It may count pages, or the order is not stable: lists may repeat or miss records';
    return offset('warn', detail, remedy);
  }
  const working = await findName(prober, sample, configured);
  if (configured === undefined) {
    return working === undefined
      ? offset('ok', 'not configured, and none was found')
      : offset(
          'warn',
          `none is configured, but ${working} works`,
          `Set ${environmentName('pageParam')}=${working}`,
        );
  }
  const remedy = `Set ${environmentName('pageParam')}=${working ?? 'none'}`;
  return offset(
    'fail',
    `${configured} is ignored${working === undefined ? '' : `; ${working} works`}`,
    remedy,
  );
}

async function findName(
  prober: Prober,
  sample: Sample,
  configured: string | undefined,
): Promise<string | undefined> {
  for (const name of otherOffsetNames) {
    if (name === configured || !prober.hasTime) continue;
    if ((await tryOffset(prober, sample, name)) === 'moves') return name;
  }
  return undefined;
}

async function checkSize(prober: Prober, { path, total }: Sample): Promise<DoctorCheck> {
  const large = await prober.page(path, { size: String(largeSize) });
  if (large.page) return size('ok', describeSize(large.page.records.length, total));
  if (!isApiError(large.error, 'refused')) return size('skip', 'no valid answer to a large page');
  const usual = await prober.page(path, { size: String(requestedSize) });
  if (usual.page) return size('ok', `${largeSize} is refused; ${requestedSize} is not`);
  const remedy = 'Whole collections cannot be read: ask the provider for the maximum page size';
  return size('fail', `${requestedSize} is refused`, remedy);
}

function describeSize(received: number, total: number): string {
  if (received > largeSize)
    return `ignored: ${received} records returned where ${largeSize} were requested`;
  if (received < Math.min(largeSize, total)) return `clamped to ${received}`;
  return `${received} records in one page`;
}
