if (typeof process.getBuiltinModule !== 'function') {
  process.stderr.write(`cpq-mcp: needs Node 20.19 or later, and this is ${process.version}\n`);
  process.exit(2);
}

// An import would enumerate all exports of these modules, which takes longer.
const { lstatSync, mkdirSync } = process.getBuiltinModule('node:fs');
const { homedir, platform } = process.getBuiltinModule('node:os');
const { join } = process.getBuiltinModule('node:path');

/** From Node 22.1 on. */
type CompileCache = typeof import('node:module') & {
  enableCompileCache?(folder: string): unknown;
};

/** Caches compiled code for the next start, if Node supports it and the environment does not configure it. */
function keepCompiled({ enableCompileCache }: CompileCache): void {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  if (!enableCompileCache || NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  const folder = ownFolder();
  if (folder !== undefined) enableCompileCache(folder);
}

/** A folder that only this user can write to: code that others could change must not be run. */
function ownFolder(): string | undefined {
  try {
    const folder = join(cacheFolder(), 'cpq-mcp');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && isOurs(found) ? folder : undefined;
  } catch {
    return undefined; // No writable home: every start compiles again.
  }
}

const isOurs = ({ uid, mode }: { uid: number; mode: number }): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);

function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (XDG_CACHE_HOME) return XDG_CACHE_HOME;
  if (platform() === 'win32' && LOCALAPPDATA) return LOCALAPPDATA;
  return join(homedir(), platform() === 'darwin' ? 'Library/Caches' : '.cache');
}

keepCompiled(process.getBuiltinModule('node:module'));
// Imported after the cache is enabled, so that its code is cached.
const { start } = await import('./commands/run.ts');
const { env, stdout, stderr } = process;
const [, script = '', ...argv] = process.argv;
const status = await start(argv, {
  env,
  home: homedir(),
  script,
  stdin: () => process.stdin,
  stdout,
  stderr,
  signals: process,
});
// After the output is flushed. Without an error the process ends by itself.
if (status !== 0) stdout.write('', () => process.exit(status));
