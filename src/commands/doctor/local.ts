import { randomUUID } from 'node:crypto';
import { access, constants, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { environmentName, type Settings, settingWarnings, toolSelectionOf } from '../../config.ts';
import { createSurface } from '../../mcp/surface.ts';
import { defaultStateFolder } from '../../state/files/state-folder.ts';
import { writeGrant } from '../../tenant/grants.ts';
import { errorCode, messageOf } from '../../values.ts';
import { checkAs, type DoctorCheck } from './check.ts';
import { checkFiles } from './files.ts';
import { inShort } from './routes.ts';

const oldestNode = [20, 19] as const;

/** Checks that need no request. */
export async function checkLocal(
  settings: Settings,
  argv: readonly string[],
): Promise<DoctorCheck[]> {
  const variables = checkAs('variables', 'settings');
  return [
    checkSettings(settings),
    ...settingWarnings(argv, process.env).map((warning) => variables('warn', warning)),
    checkNode(process.versions.node),
    await checkState(settings),
    ...(await checkFiles(settings)),
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

export function checkNode(version: string): DoctorCheck {
  const node = checkAs('node', 'Node');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor, minMinor] = oldestNode;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return node('pass', version);
  return node('fail', version, `Install Node ${oldestNode.join('.')} or later`);
}

async function checkState(settings: Settings): Promise<DoctorCheck> {
  const state = checkAs('state', 'state folder');
  const folder = settings.stateDir ?? defaultStateFolder(process.env);
  const problem = await writeProblem(folder);
  if (problem === undefined)
    return state('pass', `${folder} is writable${await keptHistory(settings)}`);
  const status = settings.grants.has(writeGrant) ? 'fail' : 'warn';
  const remedy = `Set ${environmentName('stateDir')} to a folder that this user can write to; it stores the journal of changes`;
  return state(status, `${folder}: ${problem}`, remedy);
}

/** How many days of the pipeline's history are kept; nothing if there are none. */
async function keptHistory(settings: Settings): Promise<string> {
  if (settings.sandbox || settings.historyDays === 0) return '';
  try {
    const { describeHistories } = await import('../history.ts');
    const kept = await describeHistories(settings);
    return kept === '' ? '' : `; history: ${kept}`;
  } catch (error) {
    return `; the history cannot be read: ${messageOf(error)}`;
  }
}

/** Leaves no changes: a missing folder is not created; its nearest existing parent is checked instead. */
async function writeProblem(folder: string): Promise<string | undefined> {
  try {
    const found = await stat(folder).catch(() => undefined);
    if (!found) await access(await nearestExisting(folder), constants.W_OK);
    else if (!found.isDirectory()) return 'is not a folder';
    else {
      const file = join(folder, `.doctor-${randomUUID()}`);
      await writeFile(file, '', { flag: 'wx' });
      await rm(file);
    }
    return undefined;
  } catch (error) {
    return errorCode(error) ?? String(error);
  }
}

async function nearestExisting(folder: string): Promise<string> {
  const parent = dirname(folder);
  const found = await stat(parent).catch(() => undefined);
  return found || parent === folder ? parent : nearestExisting(parent);
}
