// Checks that rooms import only from the rooms below them, and that libraries of the outside world stay
// in theirs. It follows each import to the file that it means; type imports count.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const below = {
  commands: [
    'hosts',
    'fast-path',
    'mcp',
    'tools',
    'tenant',
    'briefs',
    'api',
    'state',
    'text',
    'views',
    'sandbox',
  ],
  hosts: ['fast-path', 'mcp', 'tools', 'tenant', 'briefs', 'api', 'state', 'text', 'views'],
  'fast-path': ['mcp', 'tools', 'tenant', 'briefs', 'api', 'state', 'text'],
  mcp: ['tools', 'tenant', 'briefs', 'api', 'state', 'text', 'views'],
  tools: ['tenant', 'briefs', 'api', 'state', 'text'],
  tenant: ['briefs', 'api', 'state', 'text'],
  briefs: ['text'],
  api: ['state'],
  state: [],
  text: [],
  sandbox: [],
  // Types of the answers that the views show.
  views: ['briefs'],
};

/** Files beside the rooms: what each may import. */
const besides = {
  'src/main.ts': ['commands', ...below.commands].filter((room) => room !== 'sandbox'),
  'src/index.ts': ['commands', ...below.commands].filter((room) => room !== 'sandbox'),
  'src/config.ts': below.mcp,
  'src/log.ts': [],
  'src/version.ts': [],
  'src/outside-text.ts': [],
};

/** Who may import them. */
const usersOfBesides = {
  'src/main.ts': [],
  'src/index.ts': [],
  'src/config.ts': ['src/main.ts', 'src/index.ts', 'src/log.ts', 'commands', 'hosts'],
  'src/log.ts': ['src/main.ts', 'src/index.ts', 'commands', 'hosts', 'mcp', 'tools', 'tenant'],
  'src/version.ts': ['src/main.ts', 'src/index.ts', 'commands', 'hosts', 'mcp', 'tools', 'tenant'],
  'src/outside-text.ts': [
    'commands',
    'hosts',
    'fast-path',
    'mcp',
    'tools',
    'tenant',
    'briefs',
    'api',
  ],
};

/** Libraries that stay in their rooms. */
const libraries = [
  { name: /^undici(\/|$)/, rooms: ['api'] },
  { name: /^lru-cache(\/|$)/, rooms: ['tenant'] },
  { name: /^@modelcontextprotocol\/ext-apps(\/|$)/, rooms: ['mcp', 'hosts', 'views'] },
  { name: /^@modelcontextprotocol\//, rooms: ['mcp', 'hosts'] },
  { name: /^(libsql|better-sqlite3|node:sqlite)(\/|$)/, rooms: ['sandbox'] },
  { name: /^(prom-client|jose|@opentelemetry\/.*)(\/|$)/, rooms: ['hosts'] },
  { name: /^(redis|ioredis|iovalkey|@redis\/.*|@valkey\/.*)(\/|$)/, rooms: ['state'] },
];

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
const problems = sourceFiles().flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`${problems.length} imports against the order of the house; see docs/house.md.`);
  process.exitCode = 1;
}

function sourceFiles() {
  return ['src', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, name).split(sep).join('/'))
      .filter((name) => /\.[cm]?[jt]sx?$/.test(name)),
  );
}

function problemsOf(file) {
  const source = readFileSync(join(root, file), 'utf8');
  const said = importsOf(source).map((found) => problemOf(file, found));
  const hidden = /\bimport\s*\(\s*(?!['"\s])/.test(withoutComments(source));
  return [...said, hidden && `${file}: imports a name that is only known when it runs`].filter(
    Boolean,
  );
}

function importsOf(source) {
  const statements =
    /^[ \t]*(?:import|export)\b(?<what>[^'"`;]*?)\bfrom\s*(?<quote>['"])(?<from>[^'"]+)\k<quote>/gm;
  const others =
    /(?:^[ \t]*import|\b(?:import|require)\s*\()\s*(?<quote>['"])(?<from>[^'"]+)\k<quote>/gm;
  return [...source.matchAll(statements), ...source.matchAll(others)].map(({ groups }) => ({
    name: groups.from,
    typesOnly: /^\s*type\b/.test(groups.what ?? ''),
  }));
}

function problemOf(file, { name, typesOnly }) {
  const room = roomOf(file);
  if (!/^(\.|\/|file:)/.test(name)) return problemOfLibrary(file, room, name);
  const target = relative(root, resolve(root, dirname(file), name))
    .split(sep)
    .join('/');
  return mayImport(room, target, typesOnly) ? undefined : `${file}: may not import ${target}`;
}

function problemOfLibrary(file, room, name) {
  const library = libraries.find((it) => it.name.test(name));
  if (name.startsWith('#') || name === 'cpq-mcp') return `${file}: may not import ${name}`;
  if (!library || library.rooms.includes(room)) return undefined;
  return `${file}: may not import ${name}, which belongs in ${library.rooms.join(' and ')}`;
}

function mayImport(room, target, typesOnly) {
  const other = roomOf(target);
  if (other === room) return true;
  if (other in usersOfBesides) return usersOfBesides[other].includes(room);
  // Pure functions over records: what a record is made of, and nothing that reads one.
  if (room === 'briefs') return typesOnly && target === 'src/api/records.ts';
  return (besides[room] ?? below[room])?.includes(other) ?? false;
}

/** The folder directly below `src`, `tools`, or the file where it is in no room. */
function roomOf(file) {
  const [first, second] = posix.normalize(file).split('/');
  if (first === 'tools') return 'tools';
  return first === 'src' && second in below ? second : file;
}

function withoutComments(source) {
  return source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
}
