import { ConfigError, readSettings, type Settings } from '../config.ts';
import { ServicePages } from '../reading/service-pages.ts';
import { isApiError } from '../service/errors.ts';
import { reservedOf } from '../service/traffic/budget.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { version } from '../version.ts';
import { resolveAddress } from './address.ts';
import { checkBriefs } from './doctor/briefs.ts';
import { checkAs, type Finding } from './doctor/check.ts';
import { checkForms } from './doctor/forms.ts';
import { checkLocal } from './doctor/local.ts';
import { checkPaging } from './doctor/paging.ts';
import { Prober, type Probes } from './doctor/prober.ts';
import { type Report, table } from './doctor/report.ts';
import { checkRoutes, grantsFor, probeRoutes } from './doctor/routes.ts';
import { checkAddress, checkBudget, checkClock } from './doctor/service.ts';
import { checkStages } from './doctor/stages.ts';

const maxMs = 55_000;

/**
 * The acceptance test of a tenant: settings, address, key, every route, how the service answers, and what that
 * means for every brief. Sends at most 40 requests, which only read.
 * @throws ConfigError for wrong settings; Error when a check failed
 */
export async function doctor(argv: readonly string[]): Promise<void> {
  const asJson = argv.includes('--json');
  const write = (report: unknown) => print(`${JSON.stringify(report, undefined, 2)}\n`);
  try {
    const flags = argv.filter((word) => word !== '--json');
    const report = await examine(readSettings(flags, process.env), flags);
    await (asJson ? write(report) : print(table(report)));
    const failed = report.checks.filter(({ status }) => status === 'fail').length;
    if (failed > 0) throw new Error(`${failed} of ${report.checks.length} checks failed`);
  } catch (error) {
    if (asJson && error instanceof ConfigError)
      await write({ ok: false, checks: [checkAs('settings', 'settings')('fail', error.message)] });
    throw error;
  }
}

async function examine(settings: Settings, argv: readonly string[]): Promise<Report> {
  const { baseUrl, key, close } = await resolveAddress(settings);
  const prober = new Prober({ baseUrl, key }, settings.pageParam, maxMs, showProgress);
  const pages = new ServicePages(prober);
  try {
    const here = await checkLocal(settings, argv);
    const probes = await probeRoutes(prober, pages);
    const findings = await checkService(prober, probes, pages);
    const stages = await checkStages(prober, settings.barredStages, pages);
    const access = checkAddress(baseUrl, probes);
    // An error that affects every request is reported once, not for every route.
    const answered = access.some(({ status }) => status === 'fail') ? new Map() : probes;
    const grants = grantsFor(probes, settings.grants);
    const checks = [
      ...here,
      ...access,
      checkClock(prober.headers),
      checkBudget(prober.headers, settings.rateLimit),
      ...checkRoutes(answered, settings),
      ...findings.map(({ effect: _, ...found }) => found),
      ...stages,
      ...checkBriefs(answered, findings, settings.grants, mayWalk(prober, settings)),
    ];
    const report: Report = {
      version,
      ok: !checks.some(({ status }) => status === 'fail'),
      address: baseUrl.href,
      sandbox: settings.sandbox,
      checks,
      requests: prober.requests,
      ...(grants === undefined ? {} : { grants }),
    };
    // Again: invisible characters, which are removed by now, may have hidden the key from the first search.
    return withoutSecrets(report);
  } finally {
    clearProgress();
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
  const hasAnswer = [...probes.values()].some(
    ({ error }) => !error || isApiError(error, 'unfamiliar'),
  );
  return hasAnswer ? [...checkForms(probes), ...(await checkPaging(prober, probes, pages))] : [];
}

/** Whether more requests are left than are kept for single records and pages. */
const mayWalk = ({ headers: { remaining, limit } }: Prober, { rateLimit }: Settings): boolean =>
  remaining === undefined || remaining > reservedOf(Math.min(rateLimit, limit ?? rateLimit));

const clearLine = '\r\u001b[2K';

/** A progress line on a terminal; no output elsewhere. */
function showProgress(path: string, requests: number): void {
  if (process.stderr.isTTY) process.stderr.write(`${clearLine}Request ${requests}: ${path}`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(clearLine);
}

/** Resolves when the text is flushed, because a failed check ends the process right after. */
const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
