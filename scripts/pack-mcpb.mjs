// Packs the desktop bundle: node scripts/pack-mcpb.mjs [--dist FOLDER] [--out FILE] [--open]
// --open gives it to the desktop app, which then shows its form. In a new clone packages are installed before.
// Contains the build, the manifest and the icons, but no packages. The embedded tenant needs a package and
// is therefore not available in the bundle.
import { execFile, execSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
if (!existsSync(join(root, 'node_modules'))) execSync('npm ci', { cwd: root, stdio: 'inherit' });
const { packExtension, validateManifest } = await import('@anthropic-ai/mcpb');
const options = { dist: { type: 'string' }, out: { type: 'string' }, open: { type: 'boolean' } };
const { values } = parseArgs({ options });
const out = resolve(values.out ?? join(root, 'cpq-mcp.mcpb'));
const folder = await mkdtemp(join(tmpdir(), 'cpq-mcp-bundle-'));
const dist = join(folder, 'dist');

/** The fields that Node and the desktop app need. */
async function writePackage() {
  const { name, version, type, license } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version, type, license }));
}

async function fill() {
  if (values.dist) await cp(values.dist, dist, { recursive: true });
  else await promisify(execFile)(process.execPath, ['scripts/build.mjs', dist], { cwd: root });
  // Only for programs that import the server; a desktop app starts it.
  for (const name of ['index.js', 'index.d.ts']) await rm(join(dist, name), { force: true });
  await cp(join(root, 'icons'), join(folder, 'icons'), { recursive: true });
  for (const name of ['manifest.json', 'LICENSE']) {
    if (existsSync(join(root, name))) await cp(join(root, name), join(folder, name));
  }
  await writePackage();
}

/** With the program that the system starts for such files. */
function open() {
  const openers = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] };
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  spawn(command, [...args, out], { detached: true, stdio: 'ignore' })
    .on('error', () => console.log('Open it with your desktop app: Settings → Extensions.'))
    .unref();
}

try {
  await fill();
  const valid = validateManifest(join(folder, 'manifest.json'));
  const packed =
    valid && (await packExtension({ extensionPath: folder, outputPath: out, silent: true }));
  if (!packed) throw new Error('The bundle could not be packed.');
  console.log(`${out}: ${Math.round((await stat(out)).size / 1024)} kB`);
  if (values.open) open();
} finally {
  await rm(folder, { recursive: true, force: true });
}
