import { environmentName } from '../../config.ts';
import { judgeOf, readCriteria } from '../../lists/criteria.ts';
import { describeError } from '../../mcp/wording.ts';
import { readListPage } from '../../reading/list-page.ts';
import type { ServicePages } from '../../reading/service-pages.ts';
import { isApiError } from '../../service/errors.ts';
import type { Search } from '../../service/page.ts';
import type { ApiRecord, Resource } from '../../service/records/records.ts';
import { fieldOf } from '../../values.ts';
import { checkAs, type Finding, notTried } from './check.ts';
import type { Prober, Probes } from './prober.ts';

type Parameter = 'filters' | 'query' | 'sort';

const titles = { filters: 'filter', query: 'text search', sort: 'sort' } as const;
const rows = 5;

/** Checks whether filters, text and order have an effect, on pages that must show one. */
export async function checkSearching(
  prober: Prober,
  probes: Probes,
  pages: ServicePages,
): Promise<Finding[]> {
  const [deal] = probes.get('opportunity')?.records ?? [];
  const [company] = probes.get('company')?.records ?? [];
  const companyId = fieldOf(fieldOf(deal, 'company'), 'id');
  const word = wordOf(company);
  return [
    await checkParameter(
      prober,
      pages,
      'opportunity',
      'filters',
      companyId && `company.id:${companyId}`,
    ),
    await checkParameter(prober, pages, 'company', 'query', word),
    await checkParameter(prober, pages, 'company', 'sort', company && '-name'),
  ];
}

const wordOf = (company: ApiRecord | undefined): string | undefined =>
  company?.name?.split(/\s+/).find((word) => /^[\p{L}\d]{3,}$/u.test(word));

async function checkParameter(
  prober: Prober,
  pages: ServicePages,
  resource: Resource,
  name: Parameter,
  value: unknown,
): Promise<Finding> {
  const found = checkAs(`search:${name}`, titles[name]);
  if (typeof value !== 'string') return found('skip', 'no record to check it with');
  if (!prober.canAsk) return found('skip', notTried);
  try {
    return (await isIgnored(prober, pages, resource, { [name]: value }))
      ? found('warn', 'ignored; the server applies it itself, over the whole collection')
      : found('pass', 'honoured');
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (!isApiError(error, 'refused')) {
      return found('skip', 'no valid answer', describeError(error, environmentName));
    }
    return found(
      'warn',
      `the parameter ${name} is refused`,
      `Lists cannot be asked for with ${name}; briefs and cpq_find do not need it`,
    );
  }
}

/** Reads a page as lists do, which compare it with one without the parameter. */
async function isIgnored(
  prober: Prober,
  pages: ServicePages,
  resource: Resource,
  search: Search,
): Promise<boolean> {
  const coverage = { complete: true, read: 0, total: 0 };
  const readWhole = async () => ({ records: [], coverage, asOf: new Date() });
  const judge = judgeOf(readCriteria(resource, search.filters, search.sort), search.query);
  const source = { pages, resource, readWhole, call: prober.call, judge };
  return (await readListPage(source, { ...search, size: rows })).ignored !== undefined;
}
