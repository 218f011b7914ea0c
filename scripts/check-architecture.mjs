// Checks that modules import only from the modules below them, and that libraries are used only in their
// modules. Resolves each import to its file; type imports count.
import { readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceFiles } from './source-files.mjs';

const belowTenant = ['traffic', 'briefs', 'api', 'transport', 'records', 'state', 'text'];
const belowTools = ['tool-kit', 'tenant', ...belowTenant];
const belowMcp = ['tools', ...belowTools, 'views'];
const belowHosts = ['fast-path', 'mcp', ...belowMcp];

const layersBelow = {
  commands: ['hosts', ...belowHosts, 'sandbox'],
  hosts: belowHosts,
  'fast-path': ['mcp', 'tools', ...belowTools],
  mcp: belowMcp,
  tools: belowTools,
  'tool-kit': ['tenant', ...belowTenant],
  tenant: belowTenant,
  traffic: ['api', 'state'],
  briefs: ['records', 'text'],
  api: ['records', 'state', 'transport'],
  transport: [],
  records: [],
  state: [],
  text: [],
  sandbox: [],
  // Types of the answers that the views show.
  views: ['briefs'],
};

/** Files outside the module folders: what each may import. */
const filesBesideLayers = {
  'src/main.ts': ['commands', ...layersBelow.commands].filter((layer) => layer !== 'sandbox'),
  'src/index.ts': ['commands', ...layersBelow.commands].filter((layer) => layer !== 'sandbox'),
  'src/config.ts': ['mcp', ...layersBelow.mcp],
  'src/log.ts': [],
  'src/version.ts': [],
  'src/values.ts': [],
  'src/containers.ts': [],
  'src/setting-names.ts': [],
  'src/slices.ts': [],
};

/** The modules that may import these files. */
const usersOfFiles = {
  'src/main.ts': [],
  'src/index.ts': [],
  'src/config.ts': ['src/main.ts', 'src/index.ts', 'src/log.ts', 'commands', 'hosts'],
  'src/log.ts': [
    'src/main.ts',
    'src/index.ts',
    'commands',
    'hosts',
    'mcp',
    'tools',
    'tool-kit',
    'tenant',
  ],
  'src/setting-names.ts': [
    'src/index.ts',
    'src/config.ts',
    'commands',
    'hosts',
    'fast-path',
    'mcp',
    'tenant',
  ],
  'src/slices.ts': ['mcp', 'tools', 'tool-kit', 'tenant', 'api'],
  'src/values.ts': [
    'src/index.ts',
    'src/config.ts',
    ...Object.keys(layersBelow).filter((layer) => layer !== 'sandbox'),
  ],
  'src/containers.ts': ['hosts', 'tenant', 'state'],
  'src/version.ts': [
    'src/main.ts',
    'src/index.ts',
    'commands',
    'hosts',
    'mcp',
    'tools',
    'tool-kit',
    'tenant',
  ],
};

/** The only files that import the fast path, so that it can be deleted. */
const usersOfFastPath = ['src/hosts/http.ts', 'src/hosts/line-connection.ts'];

/** Libraries that only some modules may import. */
const libraries = [
  { name: /^undici(\/|$)/, layers: ['transport'] },
  { name: /^ipaddr\.js$/, layers: ['hosts'] },
  { name: /^@modelcontextprotocol\/ext-apps(\/|$)/, layers: ['mcp', 'hosts', 'views'] },
  { name: /^@modelcontextprotocol\//, layers: ['mcp', 'hosts'] },
  { name: /^(libsql|better-sqlite3|node:sqlite)(\/|$)/, layers: ['sandbox'] },
  { name: /^(prom-client|jose|@opentelemetry\/.*)(\/|$)/, layers: ['hosts'] },
  { name: /^(redis|ioredis|iovalkey|@redis\/.*|@valkey\/.*)(\/|$)/, layers: ['state'] },
];

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
const problems = sourceFiles(root).flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(
    `${problems.length} imports against the order of the modules; see docs/architecture.md.`,
  );
  process.exitCode = 1;
}

function problemsOf(file) {
  const source = readFileSync(join(root, file), 'utf8');
  const problems = importsOf(source).map((imported) => problemOf(file, imported));
  const hidden = /\bimport\s*\(\s*(?!['"\s])/.test(withoutComments(source));
  return [...problems, hidden && `${file}: imports a name that is only known when it runs`].filter(
    Boolean,
  );
}

function importsOf(source) {
  const statements =
    /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*(?<quote>['"])(?<from>[^'"]+)\k<quote>/gm;
  const others =
    /(?:^[ \t]*import|\b(?:import|require)\s*\()\s*(?<quote>['"])(?<from>[^'"]+)\k<quote>/gm;
  return [...source.matchAll(statements), ...source.matchAll(others)].map(
    ({ groups }) => groups.from,
  );
}

function problemOf(file, name) {
  const layer = layerOf(file);
  if (!/^(\.|\/|file:)/.test(name)) return problemOfLibrary(file, layer, name);
  const target = relative(root, resolve(root, dirname(file), name))
    .split(sep)
    .join('/');
  const allowed =
    mayImport(layer, target) &&
    (layerOf(target) !== 'fast-path' || layer === 'fast-path' || usersOfFastPath.includes(file));
  return allowed ? undefined : `${file}: may not import ${target}`;
}

function problemOfLibrary(file, layer, name) {
  const library = libraries.find((it) => it.name.test(name));
  if (name.startsWith('#') || name === 'cpq-mcp') return `${file}: may not import ${name}`;
  if (!library || library.layers.includes(layer)) return undefined;
  return `${file}: may not import ${name}, which belongs in ${library.layers.join(' and ')}`;
}

function mayImport(layer, target) {
  const other = layerOf(target);
  if (other === layer) return true;
  if (other in usersOfFiles) return usersOfFiles[other].includes(layer);
  return (filesBesideLayers[layer] ?? layersBelow[layer])?.includes(other) ?? false;
}

/** The folder directly below `src`, or `tools`, or the file itself if it is in no module folder. */
function layerOf(file) {
  const [first, second] = posix.normalize(file).split('/');
  if (first === 'tools') return 'tools';
  return first === 'src' && second in layersBelow ? second : file;
}

function withoutComments(source) {
  return source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
}
