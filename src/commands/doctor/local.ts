import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  ConfigError,
  environmentName,
  type Settings,
  settingWarnings,
  toolSelectionOf,
} from '../../config.ts';
import { createSurface } from '../../mcp/surface.ts';
import { defaultStateFolder } from '../../state/files/state-folder.ts';
import { writeGrant } from '../../tenant/grants.ts';
import { errorCode, keysOf } from '../../values.ts';
import { tokensPath } from '../auth-strategies.ts';
import { checkAs, type DoctorCheck } from './check.ts';
import { inShort } from './routes.ts';

/** Checks that need no request. */
export async function checkLocal(
  settings: Settings,
  argv: readonly string[],
): Promise<DoctorCheck[]> {
  const variables = checkAs('variables', 'settings');
  return [
    checkSettings(settings),
    ...settingWarnings(argv, process.env).map((warning) => variables('warn', warning)),
    await checkState(settings),
    ...(process.platform === 'win32' ? [] : await checkFiles(settings)),
  ];
}

function checkSettings(settings: Settings): DoctorCheck {
  const found = checkAs('settings', 'settings');
  const { list, find } = createSurface(settings.grants, toolSelectionOf(settings));
  const detail = `${list.length} tools; granted: ${inShort(settings.grants)}`;
  const ungranted = [...(settings.tools ?? [])].filter((name) => !find(name));
  if (ungranted.length > 0) {
    const others = `${detail}; selected, but not granted: ${ungranted.join(', ')}`;
    return found('warn', others, 'Grant what they need, or leave them out');
  }
  if (list.length > 0) return found('pass', detail);
  return found('fail', detail, 'Grant more, or select other tools');
}

async function checkState(settings: Settings): Promise<DoctorCheck> {
  const state = checkAs('state', 'state folder');
  const folder = settings.stateDir ?? defaultStateFolder(process.env);
  const problem = await writeProblem(folder);
  if (problem === undefined) return state('pass', `${folder} is writable`);
  const status = settings.grants.has(writeGrant) ? 'fail' : 'warn';
  const remedy = `Set ${environmentName('stateDir')} to a folder that this user can write to; it stores the journal of changes`;
  return state(status, `${folder}: ${problem}`, remedy);
}

/** A missing folder is not created: its nearest existing parent is checked instead. */
async function writeProblem(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch(() => undefined);
  if (!found && dirname(folder) !== folder) return writeProblem(dirname(folder));
  if (!found?.isDirectory()) return 'is not a folder';
  return access(folder, constants.W_OK).then(
    () => undefined,
    (error: unknown) => errorCode(error) ?? 'is not accessible',
  );
}

const titles = {
  apiKeyFile: 'key file',
  webhookSecretFile: 'webhook secret file',
  webhookSigningSecretFile: 'signing secret file',
  metricsTokenFile: 'metrics token file',
} as const satisfies Partial<Record<keyof Settings, string>>;

const writableByAll = 0o002;
const readableByAllOrWritableByGroup = 0o024;

/** Checks whether other users can read or change the files with secrets. */
async function checkFiles(settings: Settings): Promise<DoctorCheck[]> {
  const files = [
    ...secretFiles(settings),
    { id: 'tokens', title: 'tokens file', path: tokensPath(settings) },
  ];
  const { tenantsFile: path } = settings;
  try {
    if (path !== undefined) {
      const { readTenants } = await import('../tenants.ts');
      const tenants = [...readTenants(path, { ...settings, metricsTokenFile: undefined })];
      files.push({ id: 'tenants', title: 'tenants file', path });
      files.push(...tenants.flatMap(([name, tenant]) => secretFiles(tenant, ` of ${name}`)));
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [checkAs('tenants', 'tenants file')('fail', error.message)];
  }
  return (await Promise.all(files.map(checkFile))).flat();
}

const secretFiles = (settings: Settings, ofTenant = '') =>
  keysOf(titles).flatMap((name) => {
    const path = settings[name];
    return path === undefined
      ? []
      : [{ id: name + ofTenant, title: titles[name] + ofTenant, path }];
  });

async function checkFile({ id, title, path }: { id: string; title: string; path: string }) {
  const found = await stat(path).catch(() => undefined);
  if (!found) return [];
  const result = checkAs(`file:${id}`, title);
  const remedy = `chmod 600 ${path}`;
  if (found.mode & writableByAll)
    return [result('fail', `every user of this machine can change ${path}`, remedy)];
  if (found.mode & readableByAllOrWritableByGroup)
    return [result('warn', `other users of this machine can read or change ${path}`, remedy)];
  return [result('pass', `not accessible to every user: ${path}`)];
}
