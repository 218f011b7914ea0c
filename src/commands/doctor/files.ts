import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError, type Settings } from '../../config.ts';
import { defaultStateFolder } from '../../state/files/state-folder.ts';
import { keysOf } from '../../values.ts';
import { tokensPath } from '../auth-strategies.ts';
import { check, type DoctorCheck } from './check.ts';

/** A file or folder that only its owner should be able to read. */
interface Secret {
  id: string;
  title: string;
  path: string;
  /** Not configured explicitly: reported only if there is a problem. */
  isDefault?: boolean;
}

const readableByAll = 0o004;
const writableByAll = 0o002;
const writableByGroup = 0o020;
/** Execute permission of a folder, which allows access to its content. */
const enterableByAll = 0o001;

const titles = {
  apiKeyFile: 'key file',
  webhookSecretFile: 'webhook secret file',
  webhookSigningSecretFile: 'signing secret file',
  metricsTokenFile: 'metrics token file',
} as const satisfies Partial<Record<keyof Settings, string>>;

/** Checks whether anybody but their owner can read or change the files with secrets. */
export async function checkFiles(
  settings: Settings,
  platform: NodeJS.Platform = process.platform,
): Promise<DoctorCheck[]> {
  const { secrets, problems } = await secretsOf(settings);
  const examine = platform === 'win32' ? onWindows : checkSecret;
  const found = await Promise.all(
    secrets.map(async (secret) => {
      const it = await examine(secret);
      const isFine = it?.status === 'pass' || it?.status === 'skip';
      return it === undefined || (secret.isDefault && isFine) ? [] : [it];
    }),
  );
  return [...problems, ...found.flat()];
}

async function secretsOf(
  settings: Settings,
): Promise<{ secrets: Secret[]; problems: DoctorCheck[] }> {
  const own = [...filesOf(settings), ...defaultsOf(settings)];
  const { tenantsFile } = settings;
  if (tenantsFile === undefined) return { secrets: own, problems: [] };
  const file = { id: 'tenants', title: 'tenants file', path: tenantsFile };
  const { readTenants } = await import('../tenants.ts');
  try {
    const tenants = [...readTenants(tenantsFile, settings)];
    const theirs = tenants.flatMap(([name, tenant]) => filesOf(tenant, name));
    return { secrets: [...own, file, ...theirs], problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problem = check('tenants', 'tenants file', 'fail', error.message);
    return { secrets: own, problems: [problem] };
  }
}

function defaultsOf(settings: Settings): Secret[] {
  const folder = settings.stateDir ?? defaultStateFolder(process.env);
  return [
    { id: 'tokens', title: 'tokens file', path: tokensPath(settings), isDefault: true },
    { id: 'state-folder', title: 'state folder access', path: folder, isDefault: true },
  ];
}

function filesOf(settings: Settings, tenant?: string): Secret[] {
  return keysOf(titles).flatMap((name) => {
    const path = settings[name];
    // Tenants have no metrics token; this value is inherited from the server.
    if (path === undefined || (tenant !== undefined && name === 'metricsTokenFile')) return [];
    const suffix = tenant === undefined ? '' : ` of ${tenant}`;
    return [{ id: `${name}${suffix}`, title: titles[name] + suffix, path }];
  });
}

const rowOf = (
  { id, title }: Secret,
  status: DoctorCheck['status'],
  detail: string,
  remedy?: string,
) => check(`file:${id}`, title, status, detail, remedy);

const onWindows = async (secret: Secret): Promise<DoctorCheck> =>
  rowOf(secret, 'skip', `${secret.path}: check its permissions yourself (not checked on Windows)`);

/** Undefined for a missing file, which was reported when the settings were read. */
async function checkSecret(secret: Secret): Promise<DoctorCheck | undefined> {
  const found = await stat(secret.path).catch(() => undefined);
  if (!found) return undefined;
  const { path } = secret;
  const remedy = `chmod ${found.isDirectory() ? 700 : 600} ${path}`;
  if (await isReachableByAll(path)) {
    if (found.mode & writableByAll) {
      return rowOf(secret, 'fail', `every user of this machine can change ${path}`, remedy);
    }
    if (found.mode & readableByAll) {
      return rowOf(secret, 'warn', `every user of this machine can read ${path}`, remedy);
    }
  }
  if (found.mode & writableByGroup) {
    return rowOf(secret, 'warn', `its whole group can change ${path}`, remedy);
  }
  return rowOf(secret, 'pass', `not accessible to every user: ${path}`);
}

/** Whether all parent folders can be entered by everyone. */
async function isReachableByAll(path: string): Promise<boolean> {
  const folder = dirname(await realpath(path));
  const parent = dirname(folder);
  const { mode } = await stat(folder);
  if ((mode & enterableByAll) === 0) return false;
  return parent === folder || isReachableByAll(folder);
}
