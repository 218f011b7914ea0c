// Checks on the syntax tree that modules import only from the modules below them, that libraries and Node's own modules
// are used only where they belong, and that pure modules read neither the clock nor the environment. Type imports count.
import { readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'vite';
import { sourceFiles } from './source-files.mjs';

/** From top to bottom. Modules of one row do not import each other. */
const order = [
  ['src/main.ts', 'src/index.ts'],
  ['commands'],
  ['src/config.ts'],
  ['config'],
  ['hosts'],
  ['fast-path'],
  ['mcp'],
  ['tools', 'views'],
  ['tool-kit'],
  ['lists', 'changes', 'events'],
  ['tenant'],
  ['history'],
  ['reading'],
  ['briefs'],
  ['names'],
  ['figures'],
  ['service'],
  ['state'],
  ['src/log.ts'],
  ['text'],
  ['src/slices.ts'],
  [
    'src/values.ts',
    'src/containers.ts',
    'src/setting-names.ts',
    'src/setting-values.ts',
    'src/version.ts',
  ],
];
const rankOf = new Map(order.flatMap((row, rank) => row.map((module) => [module, rank])));

/** The embedded tenant shares no code with the rest; only commands start it. */
const apart = 'sandbox';

/** The only files that import the fast path, so that it can be deleted. */
const usersOfFastPath = ['src/hosts/http.ts', 'src/hosts/stdio.ts'];

/** What only some modules may import. */
const libraries = [
  { name: /^undici(\/|$)/, modules: ['service'] },
  { name: /^@modelcontextprotocol\/ext-apps(\/|$)/, modules: ['mcp', 'hosts', 'views'] },
  { name: /^@modelcontextprotocol\//, modules: ['mcp', 'hosts'] },
  { name: /^zod(\/|$)/, modules: ['mcp', 'tools', 'tool-kit'] },
  { name: /^(node-sqlite3-wasm|better-sqlite3|node:sqlite)(\/|$)/, modules: ['sandbox'] },
  { name: /^(prom-client|jose)(\/|$)/, modules: ['hosts'] },
  { name: /^(redis|ioredis|iovalkey|@redis\/.*|@valkey\/.*)(\/|$)/, modules: ['state'] },
  {
    name: /^(node:)?fs(\/|$)/,
    modules: ['state', 'hosts', 'views', 'commands', 'src/config.ts', 'src/main.ts'],
  },
];

/** Modules that read the environment. */
const readEnvironment = ['commands', 'src/main.ts'];
libraries.push({ name: /^(node:)?process$/, modules: readEnvironment });
/** Modules that compute only from what they are given, and so do not read the clock. */
const withoutClock = ['briefs', 'names', 'figures', 'text', 'src/values.ts'];

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
function problemsOf(file) {
  const { program, errors } = parseSync(file, readFileSync(join(root, file), 'utf8'));
  if (errors.length > 0) return [`${file}: cannot be parsed: ${errors[0].message}`];
  const found = new Set();
  const report = (problem) => problem && found.add(`${file}: ${problem}`);
  const imported = (source) => {
    const name = stringOf(source);
    report(
      name === undefined ? 'imports a name that is only known when it runs' : problemOf(file, name),
    );
  };
  new Visitor({
    ImportDeclaration: ({ source }) => imported(source),
    ExportNamedDeclaration: ({ source }) => source && imported(source),
    ExportAllDeclaration: ({ source }) => imported(source),
    ImportExpression: ({ source }) => imported(source),
    TSImportType: ({ source }) => imported(source),
    TSExternalModuleReference: ({ expression }) => imported(expression),
    CallExpression: (node) => {
      if (isLoader(node.callee)) imported(node.arguments[0]);
      if (isNow(node.callee)) report(problemOfClock(file));
    },
    NewExpression: (node) => {
      const [first] = node.arguments;
      if (node.callee.name === 'Date' && first === undefined) report(problemOfClock(file));
      if (node.callee.name === 'Worker') imported(urlOf(first) ?? first);
    },
    MemberExpression: (node) => {
      if (isMember(node, 'process', ['env'])) report(problemOfEnvironment(file));
    },
    VariableDeclarator: ({ id, init }) => {
      if (init?.name !== 'process' || id.type !== 'ObjectPattern') return;
      const names = id.properties.map(({ key }) => key?.name);
      if (names.includes('env')) report(problemOfEnvironment(file));
      if (names.includes('getBuiltinModule')) report('may use getBuiltinModule as it is only');
    },
    Identifier: ({ name }) => {
      if (name === 'createRequire') report('may not use createRequire');
    },
  }).visit(program);
  return [...found];
}

const isMember = (node, object, properties) =>
  node?.type === 'MemberExpression' &&
  node.object.name === object &&
  properties.includes(node.property.name ?? stringOf(node.property));

const isLoader = (callee) =>
  callee.name === 'require' || isMember(callee, 'process', ['getBuiltinModule']);

const isNow = (callee) =>
  isMember(callee, 'Date', ['now']) || isMember(callee, 'performance', ['now']);

/** What `new URL('…', import.meta.url)` refers to. */
const urlOf = (node) =>
  node?.type === 'NewExpression' && node.callee.name === 'URL' ? node.arguments[0] : undefined;

function stringOf(node) {
  if (node?.type === 'TSLiteralType') return stringOf(node.literal);
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0].value.cooked;
  return typeof node?.value === 'string' ? node.value : undefined;
}

const problemOfEnvironment = (file) =>
  readEnvironment.includes(moduleOf(file)) ? undefined : 'may not read the environment';

const problemOfClock = (file) =>
  withoutClock.includes(moduleOf(file)) ? 'may not read the clock' : undefined;

function problemOf(file, name) {
  const module = moduleOf(file);
  if (!/^(\.|\/|file:)/.test(name)) return problemOfLibrary(module, name);
  const target = relative(root, resolve(root, dirname(file), name))
    .split(sep)
    .join('/');
  const isAllowed =
    mayImport(module, moduleOf(target)) &&
    (moduleOf(target) !== 'fast-path' || module === 'fast-path' || usersOfFastPath.includes(file));
  return isAllowed ? undefined : `may not import ${target}`;
}

function problemOfLibrary(module, name) {
  const library = libraries.find((it) => it.name.test(name));
  if (name.startsWith('#') || name === 'cpq-mcp') return `may not import ${name}`;
  if (!library || library.modules.includes(module)) return undefined;
  return `may not import ${name}, which belongs in ${library.modules.join(' and ')}`;
}

function mayImport(module, other) {
  if (other === module) return true;
  if (other === apart) return module === 'commands';
  // Types of the answers that the views show.
  return rankOf.has(module) && rankOf.has(other) && rankOf.get(other) > rankOf.get(module);
}

/** The folder directly below `src`, or `tools`, or the file itself if it is in no module folder. */
function moduleOf(file) {
  const [first, second] = posix.normalize(file).split('/');
  if (first === 'tools') return 'tools';
  return first === 'src' && (rankOf.has(second) || second === apart) ? second : file;
}

const problems = sourceFiles(root).flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(
    `${problems.length} uses against the order of the modules; see docs/architecture.md.`,
  );
  process.exitCode = 1;
}
