import { ConfigError, readSettings, requireTenant, type Settings } from '../config.ts';
import { check } from './doctor/check.ts';
import { grantsFor } from './doctor/grants.ts';
import { checkHere } from './doctor/local.ts';
import { checkPaging } from './doctor/paging.ts';
import { Prober, type Target } from './doctor/prober.ts';
import { progressOn } from './doctor/progress.ts';
import { type Report, reportOf, table } from './doctor/report.ts';
import { askRoutes, checkRoutes } from './doctor/routes.ts';
import { checkAddress, checkBudget, checkClock } from './doctor/service.ts';
import { checkStages } from './doctor/stages.ts';

const longestMs = 55_000;
const usualRequests = 14;

/**
 * Checks everything that has to be right before an assistant can work: settings, address, key, routes,
 * paging. Sends a dozen requests, none of which writes.
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
    await say(asJson ? `${JSON.stringify(report, undefined, 2)}\n` : table(report));
    const failed = report.checks.filter(({ status }) => status === 'fail').length;
    if (failed > 0) throw new Error(`${failed} of ${report.checks.length} checks failed`);
  } catch (error) {
    if (asJson && error instanceof ConfigError) await say(wrongSettings(error));
    throw error;
  }
}

async function examine(settings: Settings): Promise<Report> {
  const { close, ...target } = await targetOf(settings);
  const progress = progressOn(process.stderr, usualRequests);
  const prober = new Prober(target, longestMs, progress.told);
  try {
    const here = await checkHere(settings);
    const probes = await askRoutes(prober);
    const paging = await checkPaging(prober, probes, settings.pageParam);
    const stages = await checkStages(prober, settings.barredStages, settings.pageParam);
    const grants = grantsFor(probes, settings.grants);
    const service = [
      ...checkAddress(target, probes),
      checkClock(prober.seen),
      checkBudget(prober.seen, settings.rateLimit),
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

async function targetOf(settings: Settings): Promise<Target & { close(): Promise<void> }> {
  if (!settings.sandbox) return { ...requireTenant(settings), async close() {} };
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [{ baseUrl, keys }] = sandbox.tenants;
  return { baseUrl: new URL(baseUrl), key: keys.all, close: () => sandbox.close() };
}

const wrongSettings = ({ message }: ConfigError): string =>
  `${JSON.stringify({ ok: false, checks: [check('settings', 'settings', 'fail', message)] }, undefined, 2)}\n`;

/** Returns when it has left: whoever ends the process after a failed check must not cut it off. */
const say = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
