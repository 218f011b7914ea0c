// Bundles the server into dist/ or the given folder: one file for the start, and chunks that are loaded on demand.
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { writeTypes } from './build-types.mjs';
import { buildViews } from './build-views.mjs';
import { writeNotices } from './notices.mjs';

const { version, mcpName } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, process.argv[2] ?? 'dist');

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Native, and needed only by the embedded tenant.
  external: ['libsql'],
  // Its main file resolves its parts at run time, which a bundler cannot follow.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  define: { CPQ_MCP_VERSION: JSON.stringify(version), CPQ_MCP_NAME: JSON.stringify(mcpName) },
  logLevel: 'warning',
};

/** The tool list, computed at build time to save time at every start. */
async function listings() {
  const { outputFiles } = await build({
    ...common,
    entryPoints: ['src/mcp/listing.ts'],
    write: false,
  });
  const { contents } = outputFiles[0];
  const code = `data:text/javascript;base64,${Buffer.from(contents).toString('base64')}`;
  return (await import(code)).listings;
}

/** The modules that every start needs, in one file: each further file costs half a millisecond. */
const atStartImports = 'src/commands/run.ts';

/**
 * The files of the start, and files loaded later that share modules with it. esbuild puts modules into one file
 * if the same entries reach them; so each of these entries imports the whole start, which becomes one file.
 */
async function filesByTime() {
  const { metafile } = await build({
    ...common,
    entryPoints: ['src/main.ts', 'src/index.ts'],
    outdir: dist,
    splitting: true,
    plugins: [leanerSources],
    metafile: true,
    write: false,
  });
  const importsOf = (file) => metafile.inputs[file]?.imports ?? [];
  const reachedFrom = (file, reached = new Set([file])) => {
    for (const { path, kind } of importsOf(file)) {
      if (kind === 'dynamic-import' || reached.has(path)) continue;
      reached.add(path);
      reachedFrom(path, reached);
    }
    return reached;
  };
  const atStart = reachedFrom(atStartImports);
  const sharesWithStart = (file) => [...reachedFrom(file)].some((it) => atStart.has(it));
  const later = Object.keys(metafile.inputs)
    .flatMap(importsOf)
    .filter(({ path, kind }) => kind === 'dynamic-import' && !atStart.has(path))
    .map(({ path }) => path);
  return { atStart, later: new Set([...later, 'src/index.ts'].filter(sharesWithStart)) };
}

/**
 * Keeps the names of error classes, by which errors are distinguished. Keeping all names would define a name for every
 * function that is created during a call.
 */
async function keepFunctionNames(source) {
  if (!/ extends \w*Error\b/.test(source)) return source;
  const options = { loader: 'ts', keepNames: true, target: common.target };
  return (await transform(source, options)).code;
}

/** A path as in esbuild's metafile. */
const nameOf = (path) => relative(root, path).replaceAll('\\', '/');

const transformSources = (later) => ({
  name: 'our-sources',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:src|tools)[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await keepFunctionNames(await readFile(path, 'utf8'));
      const start = JSON.stringify(resolve(root, atStartImports));
      return {
        contents: later.has(nameOf(path)) ? `import ${start};\n${source}` : source,
        loader: 'ts',
      };
    });
  },
});

/** Replaces modules that would slow every start with precomputed values and smaller modules. */
const leanerSources = {
  name: 'leaner',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]src[\\/]mcp[\\/]listing\.ts$/ }, async () => ({
      contents: `export const listings = ${JSON.stringify(await listings())};`,
    }));
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: resolve(root, 'scripts/no-validator.mjs'),
    }));
  },
};

/**
 * Loads Node's own modules with `getBuiltinModule` at the start: an import enumerates all their exports, and some of
 * these load further modules.
 */
const builtins = (atStart) => ({
  name: 'builtins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, importer }) =>
      atStart.has(nameOf(importer))
        ? { path, namespace: 'builtin', sideEffects: false }
        : undefined,
    );
    onLoad({ filter: /./, namespace: 'builtin' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default');
      const exported = names.map(
        (name) => `export const ${name} = /* @__PURE__ */ (() => builtin.${name})();`,
      );
      const head = `const builtin = process.getBuiltinModule(${JSON.stringify(path)});`;
      return { contents: [head, ...exported].join('\n'), loader: 'js' };
    });
  },
});

/** Defines `require` in the output files that contain CommonJS. */
const requireLine =
  "import { createRequire as cpqCreateRequire } from 'node:module'; const require = cpqCreateRequire(import.meta.url);\n";

async function write({ path, text }) {
  const isCode = path.endsWith('.js');
  const isBin = path === join(dist, 'cpq-mcp.js');
  const head = isCode && /\brequire\b/.test(text) ? requireLine : '';
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${isBin ? '#!/usr/bin/env node\n' : ''}${head}${text}`);
}

/** The files of which code is left in the output after unused code was removed. */
const filesInOutput = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0),
  );

await rm(dist, { recursive: true, force: true });
const { atStart, later } = await filesByTime();
const { metafile, outputFiles } = await build({
  ...common,
  entryPoints: { 'cpq-mcp': 'src/main.ts', index: 'src/index.ts' },
  outdir: dist,
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  minify: true,
  plugins: [leanerSources, builtins(atStart), transformSources(later)],
  legalComments: 'none',
  metafile: true,
  write: false,
});
await Promise.all(outputFiles.map(write));
await writeTypes(root, dist);
const filesOfViews = await buildViews(dist);
await writeNotices(dist, [...filesInOutput(metafile), ...filesOfViews]);
