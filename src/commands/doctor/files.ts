import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError, type Settings } from '../../config.ts';
import { defaultStateFolder } from '../../state/files/state-folder.ts';
import { keysOf } from '../../values.ts';
import { tokensPath } from '../auth-strategies.ts';
import { checkAs, type DoctorCheck } from './check.ts';

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
  const ofTenants = await tenantsFiles(settings);
  if (!Array.isArray(ofTenants)) return [ofTenants];
  const secrets = [...filesOf(settings), ...defaultsOf(settings), ...ofTenants];
  const examine = platform === 'win32' ? onWindows : checkSecret;
  const found = await Promise.all(secrets.map(examine));
  return found.filter((it) => it !== undefined);
}

/** The tenants file and what it refers to, or the check that it failed. */
async function tenantsFiles(settings: Settings): Promise<Secret[] | DoctorCheck> {
  const { tenantsFile: path } = settings;
  if (path === undefined) return [];
  const title = 'tenants file';
  const { readTenants } = await import('../tenants.ts');
  try {
    const tenants = [...readTenants(path, settings)];
    const theirs = tenants.flatMap(([name, tenant]) => filesOf(tenant, ` of ${name}`));
    return [{ id: 'tenants', title, path }, ...theirs];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return checkAs('tenants', title)('fail', error.message);
  }
}

function defaultsOf(settings: Settings): Secret[] {
  const folder = settings.stateDir ?? defaultStateFolder(process.env);
  return [
    { id: 'tokens', title: 'tokens file', path: tokensPath(settings), isDefault: true },
    { id: 'state-folder', title: 'state folder access', path: folder, isDefault: true },
  ];
}

function filesOf(settings: Settings, ofTenant = ''): Secret[] {
  return keysOf(titles).flatMap((name) => {
    const path = settings[name];
    // Tenants have no metrics token; this value is inherited from the server.
    if (path === undefined || (ofTenant !== '' && name === 'metricsTokenFile')) return [];
    return [{ id: name + ofTenant, title: titles[name] + ofTenant, path }];
  });
}

const resultOf = ({ id, title }: Secret) => checkAs(`file:${id}`, title);

const onWindows = async (secret: Secret): Promise<DoctorCheck | undefined> =>
  secret.isDefault
    ? undefined
    : resultOf(secret)(
        'skip',
        `${secret.path}: check its permissions yourself (not checked on Windows)`,
      );

/** Undefined for a missing file, which was reported when the settings were read. */
async function checkSecret(secret: Secret): Promise<DoctorCheck | undefined> {
  const { path, isDefault } = secret;
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  const result = resultOf(secret);
  const remedy = `chmod ${found.isDirectory() ? 700 : 600} ${path}`;
  if (await isReachableByAll(path)) {
    if (found.mode & writableByAll)
      return result('fail', `every user of this machine can change ${path}`, remedy);
    if (found.mode & readableByAll)
      return result('warn', `every user of this machine can read ${path}`, remedy);
  }
  if (found.mode & writableByGroup)
    return result('warn', `its whole group can change ${path}`, remedy);
  return isDefault ? undefined : result('pass', `not accessible to every user: ${path}`);
}

/** Whether all parent folders can be entered by everyone. */
async function isReachableByAll(path: string): Promise<boolean> {
  const folder = dirname(await realpath(path));
  const { mode } = await stat(folder);
  if ((mode & enterableByAll) === 0) return false;
  return dirname(folder) === folder || isReachableByAll(folder);
}
