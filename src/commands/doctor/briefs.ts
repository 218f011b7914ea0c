import { checkNames, checks } from '../../briefs/checks/checks.ts';
import { environmentName } from '../../config.ts';
import type { Resource } from '../../service/records/records.ts';
import { routes } from '../../service/routes.ts';
import { type Grant, readGrant } from '../../tenant/grants.ts';
import { checkAs, type DoctorCheck, type Finding, notTried } from './check.ts';
import type { Probes } from './prober.ts';
import { isRefusal } from './routes.ts';

/** The collections of a tool that answers from whole ones: it needs the first, and says where others are missing. */
type Needs = readonly [required: readonly Resource[], optional: readonly Resource[]];

const briefs: Readonly<Record<string, Needs>> = {
  cpq_brief_pipeline: [['opportunity'], ['company']],
  cpq_brief_company: [
    ['company'],
    [
      ...(['contact', 'opportunity', 'quote', 'contract_item', 'discount_group'] as const),
      ...(['pricing_book', 'product', 'category'] as const),
    ],
  ],
  cpq_brief_quote: [['quote'], ['company', 'opportunity', 'pricing_book', 'product', 'contact']],
  cpq_find: [[], ['company', 'contact', 'opportunity', 'product', 'quote']],
  cpq_check_sales_data: [[], [...new Set(checkNames.flatMap((name) => checks[name].needs))]],
};

type Verdict = Pick<DoctorCheck, 'status' | 'detail' | 'remedy'>;

const worstFirst = ['fail', 'warn', 'skip', 'pass'] as const;

/** What the results of the other checks mean for each answer from whole collections. */
export const checkBriefs = (
  probes: Probes,
  findings: readonly Finding[],
  grants: ReadonlySet<Grant>,
): DoctorCheck[] =>
  Object.entries(briefs).map(([tool, [required, optional]]) => {
    const needed = [...required, ...optional];
    const verdicts: Verdict[] = [
      ...needed.flatMap((it) => routeOf(it, required.includes(it), probes, grants)),
      ...findings.flatMap((finding) => effectOn(tool, needed, finding)),
      { status: 'pass', detail: 'complete' },
    ];
    const worst = worstFirst.find((status) => verdicts.some((it) => it.status === status));
    const {
      status = 'pass',
      detail = '',
      remedy,
    } = verdicts.find((it) => it.status === worst) ?? {};
    return checkAs(`brief:${tool}`, tool)(status, detail, remedy);
  });

function routeOf(
  resource: Resource,
  isRequired: boolean,
  probes: Probes,
  grants: ReadonlySet<Grant>,
): Verdict[] {
  const { path } = routes[resource];
  if (!grants.has(readGrant(resource))) {
    const detail = `${path} is not granted in ${environmentName('grants')}`;
    return isRequired ? [{ status: 'skip', detail }] : [];
  }
  const probe = probes.get(resource);
  if (!probe) return [{ status: 'skip', detail: notTried }];
  if (!probe.error) return [];
  return isRefusal(probe.error) && !isRequired
    ? [{ status: 'warn', detail: `without ${path}, which cannot be read` }]
    : [{ status: 'fail', detail: `needs ${path}, which cannot be read`, remedy: 'See above' }];
}

function effectOn(
  tool: string,
  needed: readonly Resource[],
  { title, effect }: Finding,
): Verdict[] {
  if (!effect?.of.some((resource) => needed.includes(resource))) return [];
  if (effect.is === 'partial')
    return [
      {
        status: 'warn',
        detail: `may cover only a part, which the answer says; see "${title}" above`,
      },
    ];
  // A search computes no figures.
  if (effect.is === 'wrong figures' && tool === 'cpq_find') return [];
  return [{ status: 'fail', detail: `may be wrong, see "${title}" above` }];
}
