import { ConfigError, readSettings, type Settings } from '../config.ts';
import { ServicePages } from '../reading/service-pages.ts';
import { isApiError } from '../service/errors.ts';
import { reservedOf } from '../service/traffic/budget.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { resolveAddress } from './address.ts';
import { checkBriefs } from './doctor/briefs.ts';
import { check, type DoctorCheck, type Finding } from './doctor/check.ts';
import { grantsFor } from './doctor/grants.ts';
import { checkLocal } from './doctor/local.ts';
import { checkPaging } from './doctor/paging.ts';
import { Prober, type Probes } from './doctor/prober.ts';
import { progressDisplay } from './doctor/progress.ts';
import { type Report, reportOf, table } from './doctor/report.ts';
import { checkRoutes, probeRoutes } from './doctor/routes.ts';
import { checkSearching } from './doctor/searching.ts';
import { checkAddress, checkBudget, checkClock } from './doctor/service.ts';
import { checkShapes } from './doctor/shapes.ts';
import { checkStages } from './doctor/stages.ts';

const maxMs = 55_000;
const defaultRequests = 24;

/**
 * The acceptance test of a tenant: settings, address, key, every route, how the service answers, and what that
 * means for every brief. Sends at most 40 requests, which only read.
 * @throws ConfigError for wrong settings; Error when a check failed
 */
export async function doctor(argv: readonly string[]): Promise<void> {
  const asJson = argv.includes('--json');
  try {
    const flags = argv.filter((word) => word !== '--json');
    const report = await examine(readSettings(flags, process.env), flags);
    await print(asJson ? `${JSON.stringify(report, undefined, 2)}\n` : table(report));
    const failed = report.checks.filter(({ status }) => status === 'fail').length;
    if (failed > 0) throw new Error(`${failed} of ${report.checks.length} checks failed`);
  } catch (error) {
    if (asJson && error instanceof ConfigError) await print(wrongSettings(error));
    throw error;
  }
}

async function examine(settings: Settings, argv: readonly string[]): Promise<Report> {
  const { baseUrl, key, close } = await resolveAddress(settings);
  const target = { baseUrl, key };
  const progress = progressDisplay(process.stderr, defaultRequests);
  const prober = new Prober(target, settings.pageParam, maxMs, progress.onRequest);
  const pages = new ServicePages(prober);
  try {
    const here = await checkLocal(settings, argv);
    const probes = await probeRoutes(prober, pages);
    const findings = await checkService(prober, probes, pages);
    const stages = await checkStages(prober, settings.barredStages, pages);
    const access = checkAddress(target, probes);
    // An error that affects every request is reported once, not for every route.
    const answered = access.some(({ status }) => status === 'fail') ? new Map() : probes;
    const briefs = checkBriefs(answered, findings, settings.grants, mayWalk(prober, settings));
    const grants = grantsFor(probes, settings.grants);
    const service = [
      ...access,
      checkClock(prober.headers),
      checkBudget(prober.headers, settings.rateLimit),
    ];
    const report = reportOf({
      address: baseUrl.href,
      sandbox: settings.sandbox,
      checks: [
        ...here,
        ...service,
        ...checkRoutes(answered, settings),
        ...findings.map(withoutEffect),
        ...stages,
        ...briefs,
      ],
      requests: prober.requests,
      ...(grants === undefined ? {} : { grants }),
    });
    // Again: invisible characters, which are removed by now, may have hidden the key from the first search.
    return withoutSecrets(report);
  } finally {
    progress.done();
    await prober.close();
    await close();
  }
}

/** One check after the other: each begins with what the one before has learnt. */
async function checkService(
  prober: Prober,
  probes: Probes,
  pages: ServicePages,
): Promise<Finding[]> {
  if (![...probes.values()].some(({ error }) => !error || isApiError(error, 'unfamiliar')))
    return [];
  return [
    ...(await checkShapes(prober, probes)),
    ...(await checkPaging(prober, probes, pages)),
    ...(await checkSearching(prober, probes, pages)),
  ];
}

const withoutEffect = ({ effect: _, ...found }: Finding): DoctorCheck => found;

/** Whether more requests are left than are kept for single records and pages. */
const mayWalk = ({ headers: { remaining, limit } }: Prober, { rateLimit }: Settings): boolean =>
  remaining === undefined || remaining > reservedOf(Math.min(rateLimit, limit ?? rateLimit));

const wrongSettings = ({ message }: ConfigError): string =>
  `${JSON.stringify({ ok: false, checks: [check('settings', 'settings', 'fail', message)] }, undefined, 2)}\n`;

/** Resolves when the text is flushed, because a failed check ends the process right after. */
const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
