import { ConfigError, readSettings, requireTenant, type Settings } from '../config.ts';
import { check } from './doctor/check.ts';
import { grantsFor } from './doctor/grants.ts';
import { checkLocal } from './doctor/local.ts';
import { checkPaging } from './doctor/paging.ts';
import { Prober, type ProbeTarget } from './doctor/prober.ts';
import { progressDisplay } from './doctor/progress.ts';
import { type Report, reportOf, table } from './doctor/report.ts';
import { checkRoutes, probeRoutes } from './doctor/routes.ts';
import { checkAddress, checkBudget, checkClock } from './doctor/service.ts';
import { checkStages } from './doctor/stages.ts';

const maxMs = 55_000;
const defaultRequests = 14;

/**
 * Checks settings, address, key, routes and paging. Sends about a dozen read requests.
 * @throws ConfigError for wrong settings; Error when a check failed
 */
export async function doctor(argv: readonly string[]): Promise<void> {
  const asJson = argv.includes('--json');
  try {
    const settings = readSettings(
      argv.filter((word) => word !== '--json'),
      process.env,
    );
    const report = await examine(settings);
    await print(asJson ? `${JSON.stringify(report, undefined, 2)}\n` : table(report));
    const failed = report.checks.filter(({ status }) => status === 'fail').length;
    if (failed > 0) throw new Error(`${failed} of ${report.checks.length} checks failed`);
  } catch (error) {
    if (asJson && error instanceof ConfigError) await print(wrongSettings(error));
    throw error;
  }
}

async function examine(settings: Settings): Promise<Report> {
  const { close, ...target } = await targetOf(settings);
  const progress = progressDisplay(process.stderr, defaultRequests);
  const prober = new Prober(target, maxMs, progress.onRequest);
  try {
    const here = await checkLocal(settings);
    const probes = await probeRoutes(prober);
    const paging = await checkPaging(prober, probes, settings.pageParam);
    const stages = await checkStages(prober, settings.barredStages, settings.pageParam);
    const grants = grantsFor(probes, settings.grants);
    const service = [
      ...checkAddress(target, probes),
      checkClock(prober.headers),
      checkBudget(prober.headers, settings.rateLimit),
    ];
    return reportOf({
      address: target.baseUrl.href,
      sandbox: settings.sandbox,
      checks: [...here, ...service, ...checkRoutes(probes, settings.grants), ...paging, ...stages],
      requests: prober.requests,
      ...(grants === undefined ? {} : { grants }),
    });
  } finally {
    progress.done();
    await prober.close();
    await close();
  }
}

async function targetOf(settings: Settings): Promise<ProbeTarget & { close(): Promise<void> }> {
  if (!settings.sandbox) return { ...requireTenant(settings), async close() {} };
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [{ baseUrl, keys }] = sandbox.tenants;
  return { baseUrl: new URL(baseUrl), key: keys.all, close: () => sandbox.close() };
}

const wrongSettings = ({ message }: ConfigError): string =>
  `${JSON.stringify({ ok: false, checks: [check('settings', 'settings', 'fail', message)] }, undefined, 2)}\n`;

/** Resolves when the text is flushed, because a failed check ends the process right after. */
const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
