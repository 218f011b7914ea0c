import { checkNames, checks } from '../../briefs/checks/checks.ts';
import { environmentName } from '../../config.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { type Grant, readGrant } from '../../tenant/grants.ts';
import { type CheckStatus, check, type DoctorCheck, type Finding, notTried } from './check.ts';
import type { Probes } from './prober.ts';
import { isRefusal } from './routes.ts';

/** A tool that answers from whole collections. */
interface Brief {
  tool: string;
  /** Without these there is no answer. */
  required: readonly Resource[];
  /** Without these the answer says what is left out. */
  optional: readonly Resource[];
  /** Computes nothing from the records. */
  hasNoFigures?: boolean;
}

const briefs: readonly Brief[] = [
  { tool: 'cpq_brief_pipeline', required: ['opportunity'], optional: ['company'] },
  {
    tool: 'cpq_brief_company',
    required: ['company'],
    optional: [
      ...(['contact', 'opportunity', 'quote', 'contract_item', 'discount_group'] as const),
      ...(['pricing_book', 'product', 'category'] as const),
    ],
  },
  {
    tool: 'cpq_brief_quote',
    required: ['quote'],
    optional: ['company', 'opportunity', 'pricing_book', 'product', 'contact'],
  },
  {
    tool: 'cpq_find',
    required: [],
    optional: ['company', 'contact', 'opportunity', 'product', 'quote'],
    hasNoFigures: true,
  },
  {
    tool: 'cpq_check_sales_data',
    required: [],
    optional: resources.filter((it) => checkNames.some((name) => checks[name].needs.includes(it))),
  },
];

const severity: Readonly<Record<CheckStatus, number>> = { pass: 0, skip: 1, warn: 2, fail: 3 };

/** What the checks of the service mean for each answer from whole collections. */
export function checkBriefs(
  probes: Probes,
  findings: readonly Finding[],
  grants: ReadonlySet<Grant>,
  mayWalk: boolean,
): DoctorCheck[] {
  return briefs.map((brief) => {
    const own = [
      ...verdictsOfRoutes(brief, probes, grants),
      ...verdictsOfFindings(brief, findings),
      ...(mayWalk ? [] : [tooFewRequests]),
    ];
    const [worst] = own.toSorted((one, other) => severity[other.status] - severity[one.status]);
    const { status = 'pass', detail = 'complete', remedy } = worst ?? {};
    return check(`brief:${brief.tool}`, brief.tool, status, detail, remedy);
  });
}

type Verdict = Pick<DoctorCheck, 'status' | 'detail' | 'remedy'>;

const tooFewRequests: Verdict = {
  status: 'warn',
  detail: 'not now: the remaining requests are reserved for single records and pages',
  remedy: 'Ask again in ten minutes',
};

function verdictsOfRoutes(
  { required, optional }: Brief,
  probes: Probes,
  grants: ReadonlySet<Grant>,
): Verdict[] {
  return [...required, ...optional].flatMap((resource): Verdict[] => {
    const { path } = routes[resource];
    const isRequired = required.includes(resource);
    const probe = probes.get(resource);
    if (!grants.has(readGrant(resource))) {
      const detail = `${path} is not granted in ${environmentName('grants')}`;
      return isRequired ? [{ status: 'skip', detail }] : [];
    }
    if (!probe) return [{ status: 'skip', detail: notTried }];
    if (!probe.error) return [];
    if (isRefusal(probe.error) && !isRequired) {
      return [{ status: 'warn', detail: `without ${path}, which cannot be read` }];
    }
    return [{ status: 'fail', detail: `needs ${path}, which cannot be read`, remedy: 'See above' }];
  });
}

const verdictsOfFindings = (
  { required, optional, hasNoFigures = false }: Brief,
  findings: readonly Finding[],
): Verdict[] =>
  findings.flatMap(({ title, effect }): Verdict[] => {
    const concerned = [...required, ...optional].filter((it) => effect?.of.includes(it));
    if (!effect || concerned.length === 0) return [];
    if (effect.is === 'partial')
      return [
        {
          status: 'warn',
          detail: `covers only a part, which the answer says; see "${title}" above`,
        },
      ];
    if (effect.is === 'wrong figures' && hasNoFigures) return [];
    return [{ status: 'fail', detail: `may be wrong, see "${title}" above` }];
  });
