import { mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { environmentName, type Settings } from '../../config/settings.ts';
import { settingWarnings, toolSelectionOf } from '../../config.ts';
import { plural } from '../../figures/naming.ts';
import { discoverKeys } from '../../hosts/access/oauth.ts';
import { createSurface } from '../../mcp/surface.ts';
import { defaultStateFolder } from '../../state/files/state-folder.ts';
import { writeGrant } from '../../tenant/grants.ts';
import { errorCode, messageOf } from '../../values.ts';
import { tokensPath } from '../auth-strategies.ts';
import { inShort } from './checks.ts';
import { checkAs, type DoctorCheck } from './report.ts';

/** Checks that need no request to the service. */
export async function checkLocal(
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<DoctorCheck[]> {
  const variables = checkAs('variables', 'settings');
  return [
    checkSettings(settings),
    ...settingWarnings(env).map((warning) => variables('warn', warning)),
    await checkState(settings, env),
    ...(await checkRedis(settings)),
    ...(await checkIssuer(settings)),
    ...(process.platform === 'win32' ? [] : await checkFiles(settings, env)),
  ];
}

function checkSettings(settings: Settings): DoctorCheck {
  const found = checkAs('settings', 'settings');
  const { list, byName } = createSurface(settings.grants, toolSelectionOf(settings));
  const ungranted = [...(settings.tools ?? [])].filter(
    (name) => !name.startsWith('-') && !byName.has(name),
  );
  const left = ungranted.length > 0 ? `; selected, but not granted: ${ungranted.join(', ')}` : '';
  const detail = `${plural(list.length, 'tool')}; granted: ${inShort(settings.grants)}${left}`;
  if (list.length === 0) return found('fail', detail, 'Grant more, or select other tools');
  if (left === '') return found('pass', detail);
  return found('warn', detail, 'Grant what they need, or leave them out');
}

async function checkState(settings: Settings, env: NodeJS.ProcessEnv): Promise<DoctorCheck> {
  const state = checkAs('state', 'state folder');
  const folder = settings.stateDir ?? defaultStateFolder(env);
  const problem = await writeProblem(folder);
  if (problem === undefined) return state('pass', `${folder} is writable`);
  const status = settings.grants.has(writeGrant) ? 'fail' : 'warn';
  const remedy = `Set ${environmentName('stateDir')} to a folder that this user can write to; it stores the journal of changes`;
  return state(status, `${folder}: ${problem}`, remedy);
}

/** Whether processes can write in Redis and hear of each other, and what it says at the start of a server. */
async function checkRedis({ redisUrl: url }: Settings): Promise<DoctorCheck[]> {
  if (url === undefined) return [];
  const { redisState } = await import('../../state/redis/redis.ts');
  const problems: string[] = [];
  const report = (
    event: string,
    { code = '', policy = '', remedy = '' }: Record<string, unknown>,
  ) => problems.push([event, code, policy, remedy].filter(Boolean).join(', '));
  try {
    const state = await redisState({ url, report });
    await state.runExclusive('doctor', async () => {}).finally(() => state.close());
  } catch (error) {
    problems.push(messageOf(error));
  }
  const redis = checkAs('redis', 'Redis');
  if (problems.length === 0) return [redis('pass', `${url.host} can be written`)];
  return [redis('fail', `${url.host}: ${problems.join('; ')}`)];
}

async function checkIssuer({ auth, oauthIssuer }: Settings): Promise<DoctorCheck[]> {
  if (oauthIssuer === undefined || !auth.has('oauth')) return [];
  const issuer = checkAs('issuer', 'identity provider');
  return discoverKeys(oauthIssuer).then(
    ({ url }) => [issuer('pass', `its keys are at ${url}`)],
    (error: unknown) => [issuer('fail', messageOf(error))],
  );
}

/**
 * A missing folder is not created: its nearest existing parent is checked instead, by a folder that is made in it and
 * removed, because permissions alone do not tell, as in /proc.
 */
async function writeProblem(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch(() => undefined);
  if (!found && dirname(folder) !== folder) return writeProblem(dirname(folder));
  if (!found?.isDirectory()) return 'is not a folder';
  return mkdtemp(join(folder, '.cpq-mcp-doctor-')).then(
    (probe) => rmdir(probe).then(() => undefined),
    (error: unknown) => errorCode(error) ?? 'is not accessible',
  );
}

/** Checks whether other users can read or change the files with secrets. */
async function checkFiles(settings: Settings, env: NodeJS.ProcessEnv): Promise<DoctorCheck[]> {
  const all = Object.entries({ ...settings, tokensFile: tokensPath(settings, env) });
  const checks = all.map(([name, path]) =>
    name.endsWith('File') && typeof path === 'string' ? checkFile(name, path) : [],
  );
  return (await Promise.all(checks)).flat();
}

const writableByAll = 0o002;
const readableByAllOrWritableByGroup = 0o024;

async function checkFile(name: string, path: string): Promise<DoctorCheck[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return [];
  const result = checkAs(`file:${name}`, name.replace('File', ' file'));
  const remedy = `chmod 600 ${path}`;
  if (found.mode & writableByAll)
    return [result('fail', `every user of this machine can change ${path}`, remedy)];
  if (found.mode & readableByAllOrWritableByGroup)
    return [result('warn', `other users of this machine can read or change ${path}`, remedy)];
  return [result('pass', `not accessible to every user: ${path}`)];
}
