import type { Settings } from '../config/settings.ts';
import { ConfigError, readSettings } from '../config.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { version } from '../version.ts';
import { requireAccess } from './auth-strategies.ts';
import {
  checkAddress,
  checkBudget,
  checkForms,
  checkMapping,
  checkPaging,
  checkRoutes,
  grantsFor,
} from './doctor/checks.ts';
import { fieldsFound } from './doctor/fields.ts';
import { checkLocal } from './doctor/local.ts';
import { Prober, type Probes, probeRoutes, readRows } from './doctor/prober.ts';
import { checkAs, type DoctorCheck, type Report, table } from './doctor/report.ts';
import { inOptions } from './options.ts';
import { type CommandContext, resolveAddress } from './start.ts';
import { fieldRulesOf } from './tenant-handle.ts';
import { tenantsOf } from './tenants.ts';

const maxMs = 55_000;

export const help = `Use: cpq-mcp doctor [--json] [flags of the settings]
Checks the settings, the address, the key, every route, and how the service counts and pages, with at most 40 requests
that only read; with CPQ_TENANTS_FILE for every tenant in it. The settings are the server's, from the environment or as
flags, which "cpq-mcp http --help" lists. --json prints the report as JSON. The status is 1 if a check failed.`;

/** @throws ConfigError for wrong settings; Error when a check failed */
export async function run(argv: readonly string[], { env, stdout }: CommandContext): Promise<void> {
  const given = argv.filter((word) => word !== '--json');
  const asJson = given.length < argv.length;
  const write = (report: unknown) => stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  try {
    const settings = readSettings(given, env);
    requireAccess(settings);
    const { tenantsFile } = settings;
    const reports: Record<string, Report> = {};
    for (const [name, tenant] of tenantsOf(settings)) {
      const report = await examine(tenant, env);
      reports[name] = report;
      if (!asJson) stdout.write(table(report, tenantsFile && name));
    }
    const all = Object.values(reports);
    const wrong = Object.keys(reports).filter((name) => !reports[name]?.ok);
    if (asJson)
      write(tenantsFile === undefined ? all[0] : { ok: wrong.length === 0, tenants: reports });
    const checks = all.flatMap((report) => report.checks);
    const failed = checks.filter(({ status }) => status === 'fail').length;
    const where = tenantsFile === undefined ? '' : `, of ${wrong.join(', ')}`;
    if (failed > 0) throw new Error(`${failed} of ${checks.length} checks failed${where}`);
  } catch (error) {
    if (asJson && error instanceof ConfigError)
      write({ ok: false, checks: [checkAs('settings', 'settings')('fail', error.message)] });
    throw error;
  }
}

export async function examine(settings: Settings, env: NodeJS.ProcessEnv): Promise<Report> {
  const { baseUrl, key, close } = await resolveAddress(settings);
  const prober = new Prober(
    { baseUrl, key, pageParam: settings.pageParam, fields: fieldRulesOf(settings) },
    maxMs,
  );
  try {
    const local = await checkLocal(settings, env);
    const probes = await probeRoutes(prober);
    const access = checkAddress(baseUrl, probes);
    // An error that affects every request is reported once, not for every route.
    const answered = access.some(({ status }) => status === 'fail') ? new Map() : probes;
    const isKnown = [...probes.values()].some(({ error }) => !error);
    const found = isKnown ? await examineRecords(prober, probes) : { checks: [], fields: [] };
    const ofService = [
      ...access,
      checkBudget(prober.budget, settings.rateLimit),
      ...checkRoutes(answered, settings.grants),
      ...found.checks,
    ];
    const checks = [...local, ...(settings.tenantsFile ? ofService.map(inFile) : ofService)];
    const report: Report = {
      version,
      ok: !checks.some(({ status }) => status === 'fail'),
      address: baseUrl.href,
      sandbox: settings.sandbox,
      checks,
      fields: found.fields,
      requests: prober.requests,
      grants: grantsFor(probes, settings.grants),
    };
    // Again: invisible characters, which are removed by now, may have hidden the key from the first search.
    return withoutSecrets(report);
  } finally {
    await prober.client.close();
    await close?.();
  }
}

/** What the records that the key can read have, and how their lists are paged. */
async function examineRecords(prober: Prober, probes: Probes) {
  const paging = await checkPaging(prober, probes);
  const rows = await readRows(prober, probes);
  return {
    checks: [...checkForms(rows), ...checkMapping(prober), ...paging],
    fields: [...rows].flatMap(([resource, read]) => fieldsFound(resource, read)),
  };
}

/** With the names that settings have in a tenants file. */
const inFile = ({ remedy, ...check }: DoctorCheck): DoctorCheck => ({
  ...check,
  remedy: remedy && inOptions(remedy),
});
