// Bundles the server into dist/ or the given folder: one file for the start, and chunks that are loaded on demand.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { writeTypes } from './build-types.mjs';
import { buildViews } from './build-views.mjs';
import { define } from './defines.mjs';
import { writeNotices } from './notices.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, process.argv[2] ?? 'dist');

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Needed only by the embedded tenant.
  external: ['node-sqlite3-wasm'],
  define,
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

/**
 * What every start and every first call load. The modules of each become one file, because each further file costs
 * half a millisecond.
 */
const stages = [['src/commands/run.ts'], ['src/commands/tenant-handle.ts', 'src/mcp/tool-run.ts']];

/**
 * The modules of each stage that are in none before, and for entries that share modules with a stage, what they have
 * to import besides. esbuild puts modules into one file if the same entries reach them; so each of these entries
 * imports the whole stage.
 */
async function modulesByStage() {
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
  const reached = stages.map((entries) => entries.flatMap((entry) => [...reachedFrom(entry)]));
  const modules = reached.map((files, at) => {
    const before = new Set(reached.slice(0, at).flat());
    return new Set(files.filter((file) => !before.has(file)));
  });
  const dynamic = Object.keys(metafile.inputs)
    .flatMap(importsOf)
    .filter(({ path, kind }) => kind === 'dynamic-import' && !modules[0].has(path))
    .map(({ path }) => path);
  const sharedStages = (file) =>
    stages.filter((_, at) => [...reachedFrom(file)].some((it) => modules[at].has(it))).flat();
  const imports = [...dynamic, 'src/index.ts'].map((file) => [file, sharedStages(file)]);
  return { modules, imports: new Map(imports) };
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

const transformSources = (imports) => ({
  name: 'our-sources',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:src|tools)[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await keepFunctionNames(await readFile(path, 'utf8'));
      const lines = (imports.get(nameOf(path)) ?? []).map(
        (file) => `import ${JSON.stringify(resolve(root, file))};`,
      );
      return { contents: [...lines, source].join('\n'), loader: 'ts' };
    });
  },
});

/** Replaces modules that would slow every start with precomputed values and smaller modules. */
const leanerSources = {
  name: 'leaner',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]src[\\/]mcp[\\/]listing\.ts$/ }, async () => ({
      // V8 parses JSON faster than code.
      contents: `export const listings = JSON.parse(${JSON.stringify(JSON.stringify(await listings()))});`,
    }));
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: resolve(root, 'scripts/no-validator.mjs'),
    }));
  },
};

/**
 * Loads Node's own modules with `getBuiltinModule` in every stage: an import enumerates all their exports, and some of
 * these load further modules.
 */
const builtins = (modules) => ({
  name: 'builtins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, importer }) =>
      modules.some((stage) => stage.has(nameOf(importer)))
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

/** The file name of esbuild's helper functions, which come from no source file. */
const helpersIn = ({ outputs }) =>
  basename(
    Object.keys(outputs).find((file) => {
      const { entryPoint, inputs } = outputs[file];
      return entryPoint === undefined && Object.keys(inputs).length === 0;
    }),
  );

/** Removes imports of the helpers that use none of them: loading them has no effect. */
const withoutUnusedHelpers = (text, helpers) => text.replaceAll(`import"./${helpers}";`, '');

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
const { modules, imports } = await modulesByStage();
const { metafile, outputFiles } = await build({
  ...common,
  entryPoints: { 'cpq-mcp': 'src/main.ts', index: 'src/index.ts' },
  outdir: dist,
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  minify: true,
  plugins: [leanerSources, builtins(modules), transformSources(imports)],
  legalComments: 'none',
  metafile: true,
  write: false,
});
const helpers = helpersIn(metafile);
await Promise.all(
  outputFiles.map(({ path, text }) => write({ path, text: withoutUnusedHelpers(text, helpers) })),
);
await writeTypes(root, dist);
const filesOfViews = await buildViews(dist);
await writeNotices(dist, [...filesInOutput(metafile), ...filesOfViews]);
