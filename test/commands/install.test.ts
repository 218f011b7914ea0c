import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unpackExtension, validateManifest } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { publint } from 'publint';
import { describe, expect, inject, test, vi } from 'vitest';
import { settings, variableOf } from '../../src/config/settings.ts';
import { prompts } from '../../src/tool-kit/prompts.ts';
import { keysOf } from '../../src/values.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { emptyProject, folder, npm, npmOutput, packed } from '../support/package.ts';
import { shownTools } from '../support/samples.ts';
import { shared } from '../support/shared.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
const description = shared(() => readJson(join(root, 'package.json')));
const { address } = embeddedTenant();

const installed = shared(async () => {
  const project = await emptyProject('project');
  const words = ['npm', 'install', '--omit=optional', (await packed()).tarball];
  // npm warns of nothing.
  expect((await npmOutput(project, ...words)).stderr).toBe('');
  return project;
});

/** Starts the program, and lists and calls tools with a real client over stdio. */
async function use(command: string, args: string[], env: Record<string, string>, cwd?: string) {
  const client = new Client({ name: 'test', version: '1' });
  const where = cwd === undefined ? {} : { cwd };
  await client.connect(new StdioClientTransport({ command, args, env, ...where }));
  const { tools } = await client.listTools();
  const result = await client.callTool({ name: 'cpq_list_companies', arguments: { size: 1 } });
  await client.close();
  return { tools: tools.map((tool) => tool.name), text: JSON.stringify(result.content) };
}

const tenant = async () => {
  const { baseUrl, key } = await address();
  return { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_STATE_DIR: await folder() };
};

describe('the package', () => {
  test('has no dependency but SQLite, which is optional', async () => {
    const { dependencies, peerDependencies, optionalDependencies } = await description();
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
    expect(Object.keys(optionalDependencies)).toEqual(['node-sqlite3-wasm']);
  });

  test('contains the build and its documentation, and is small', async () => {
    const { files, size } = await packed();
    const others = files.filter(({ path }) => !path.startsWith('dist/')).map(({ path }) => path);
    expect(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']).toEqual(
      expect.arrayContaining(others),
    );
    expect(files.filter(({ path }) => /\.(ts|map|node)$/.test(path))).toEqual([
      expect.objectContaining({ path: 'dist/index.d.ts' }),
    ]);
    expect(size).toBeLessThan(1_000_000);
  });

  test('runs nothing when it is installed', async () => {
    const { scripts } = await readJson(
      join(await installed(), 'node_modules', 'cpq-mcp', 'package.json'),
    );
    const runByNpm = /^(pre|post)?(install|prepare)$|^prepublish$/;
    expect(Object.keys(scripts).filter((name) => runByNpm.test(name))).toEqual([]);
  });

  test('installs a single package, and serves a client', async () => {
    const project = await installed();
    const { packages } = await readJson(join(project, 'node_modules', '.package-lock.json'));
    expect(Object.keys(packages)).toEqual(['node_modules/cpq-mcp']);
    const env = { PATH: process.env.PATH ?? '', ...(await tenant()) };
    const { tools, text } = await use('npx', ['cpq-mcp'], env, project);
    expect(tools).toContain('cpq_list_quotes');
    expect(text).toContain('1 of');
  });

  test('runs with npx from the tarball, in an empty folder', async () => {
    const empty = join(await folder(), 'empty');
    await mkdir(empty);
    const words = ['npx', '--yes', '--omit=optional', '--package', (await packed()).tarball];
    const { version } = await description();
    const ran = await npmOutput(empty, ...words, 'cpq-mcp', '--version');
    expect(ran).toEqual({ stdout: `${version}\n`, stderr: '' });
    expect(await readdir(empty)).toEqual([]);
  });

  test('is not configured to be started from the cache of npx, which may be cleared', async () => {
    const modules = join(await folder(), '_npx', '0a1b', 'node_modules');
    const own = join(modules, 'cpq-mcp');
    await cp(join((await packed()).stage, 'dist'), join(own, 'dist'), { recursive: true });
    const config = (...words: string[]) =>
      execute(process.execPath, [join(own, 'dist', 'cpq-mcp.js'), 'config', 'cursor', ...words]);
    await expect(config()).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cache of npx'),
    });
    expect((await config('--http', 'http://127.0.0.1:3333')).stdout).toContain('/mcp');
  });

  test('reports the package that the embedded tenant needs', async () => {
    const project = await installed();
    const started = npm(project, 'npx', 'cpq-mcp', 'doctor', '--sandbox');
    await expect(started).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('install the optional package `node-sqlite3-wasm`'),
    });
  });
});

describe('the README and the changelog of the package', () => {
  test('link to the repository at the version of the package', async () => {
    const { version, repository } = await description();
    const project = join(await installed(), 'node_modules', 'cpq-mcp');
    const bases = [
      `https://github.com/${repository.replace('github:', '')}/blob/v${version}/`,
      `https://raw.githubusercontent.com/${repository.replace('github:', '')}/v${version}/`,
    ];
    for (const name of ['README.md', 'CHANGELOG.md']) {
      const links = [...(await readFile(join(project, name), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)];
      const targets = links.map(([, target = '']) => target).filter((it) => !it.startsWith('#'));
      expect(targets.filter((target) => !target.startsWith('https://'))).toEqual([]);
      for (const base of bases) {
        const own = targets.filter((target) => target.startsWith(base));
        if (name === 'README.md') expect(own).not.toEqual([]);
        for (const target of own) {
          const path = target.slice(base.length).replace(/#.*/, '');
          expect(await stat(join(root, path)).then((it) => it.isFile())).toBe(true);
          expect(/\.png$/.test(path)).toBe(base.includes('raw.'));
        }
      }
    }
  });

  test('are as before in the repository', async () => {
    const { stage } = await packed();
    for (const name of ['README.md', 'CHANGELOG.md']) {
      expect(await readFile(join(stage, name), 'utf8')).toBe(
        await readFile(join(root, name), 'utf8'),
      );
    }
  });
});

describe('the package as a library', () => {
  test('can be imported', async () => {
    const source =
      "import { createCpqServer } from 'cpq-mcp'; console.log(typeof createCpqServer);";
    const words = ['--input-type=module', '--eval', source];
    const { stdout } = await execute(process.execPath, words, { cwd: await installed() });
    expect(stdout).toBe('function\n');
  });

  test('passes publint', async () => {
    const pkgDir = (await packed()).stage;
    const { messages } = await publint({ pkgDir, strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  test('has types that every ES module resolution finds', async () => {
    const manifest = createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json');
    const script = join(dirname(manifest), 'dist', 'index.js');
    const words = [script, (await packed()).tarball, '--profile', 'esm-only', '--format', 'json'];
    const { stdout } = await execute(process.execPath, words, { maxBuffer: 1e8 });
    const { analysis, problems = {} } = JSON.parse(stdout);
    expect(analysis.types).toEqual({ kind: 'included' });
    const kinds = Object.keys(problems).filter((kind) => kind !== 'CJSResolvesToESM');
    expect(kinds).toEqual([]);
  });
});

/** The bundle, unpacked as by the desktop app. */
const bundle = shared(async () => {
  const file = join(await folder(), 'cpq-mcp.mcpb');
  const script = join(root, 'scripts', 'pack-mcpb.mjs');
  await packed();
  await execute(process.execPath, [script, '--dist', dirname(inject('bundle')), '--out', file]);
  const outputDir = join(await folder(), 'unpacked');
  expect(await unpackExtension({ mcpbPath: file, outputDir, silent: true })).toBe(true);
  return { file, at: outputDir, manifest: await readJson(join(outputDir, 'manifest.json')) };
});

/** Replaces placeholders with what a person filled in, as the desktop app does. */
function fillIn(text: string, at: string, config: Record<string, string>): string {
  return text
    .replaceAll(`\${__dirname}`, at)
    .replace(/\$\{user_config\.(\w+)\}/g, (whole, name) => config[name] ?? whole);
}

describe('the desktop bundle', () => {
  test('is valid, of manifest version 0.4, small, and without native code', async () => {
    const { file, at, manifest } = await bundle();
    // It prints to the console even when called as a function.
    const quiet = vi.spyOn(console, 'log').mockImplementation(() => {});
    expect(validateManifest(join(at, 'manifest.json'))).toBe(true);
    quiet.mockRestore();
    const named = { name: 'cpq-mcp', display_name: 'Quotes and pipeline' };
    expect(manifest).toMatchObject({ manifest_version: '0.4', ...named });
    expect((await stat(file)).size).toBeLessThan(1_000_000);
    const names = await readdir(at, { recursive: true });
    expect(names.filter((name) => /\.(node|so|dylib|dll|exe)$|node_modules/.test(name))).toEqual(
      [],
    );
    expect(names).toContain(join('dist', 'cpq-mcp.js'));
  });

  test('starts with the command of its manifest, and serves a client', async () => {
    const { at, manifest } = await bundle();
    const { CPQ_BASE_URL, CPQ_API_KEY, CPQ_STATE_DIR } = await tenant();
    const config = { base_url: CPQ_BASE_URL, api_key: CPQ_API_KEY };
    const { command, args, env } = manifest.server.mcp_config;
    expect([command, manifest.server.entry_point]).toEqual(['node', 'dist/cpq-mcp.js']);
    const useWith = (more: Record<string, string>) => {
      const fill = (text: string) => fillIn(text, at, { ...config, ...more });
      const filled = Object.entries<string>(env).map(([name, value]) => [name, fill(value)]);
      const variables = { ...Object.fromEntries(filled), CPQ_STATE_DIR };
      return use(process.execPath, args.map(fill), variables);
    };
    // A field that may be left empty stays as it is in the manifest.
    const { tools, text } = await useWith({});
    expect(text).toContain('1 of');
    const described = manifest.tools.map((tool: { name: string }) => tool.name);
    expect(described).toEqual(expect.arrayContaining(tools));
    expect(tools).not.toContain('cpq_upsert_opportunity');
    expect((await useWith({ allow_writes: 'false' })).tools).toEqual(tools);
    const limits = { allowed_stages: 'Lead', write_fields: 'stage', writes_per_hour: '5' };
    const mayWrite = await useWith({ allow_writes: 'true', ...limits });
    expect(mayWrite.tools).toContain('cpq_upsert_opportunity');
  });

  test('lists the tools and prompts of the catalogue, in its order', async () => {
    const { manifest } = await bundle();
    const names = (list: { name: string }[]) => list.map(({ name }) => name);
    expect(names(manifest.tools)).toEqual(names([...shownTools]));
    expect(names(manifest.prompts)).toEqual(names([...prompts]));
    for (const prompt of manifest.prompts) {
      const open = prompt.arguments.map((name: string) => `\${arguments.${name}}`);
      expect(open.filter((name: string) => !prompt.text.includes(name))).toEqual([]);
      const { arguments: all = [] } = prompts.find(({ name }) => name === prompt.name) ?? {};
      for (const { name } of all.filter(({ required }) => !required)) {
        expect(prompt.text).toMatch(
          new RegExp(`\\n\\n[^\\n]+: \\$\\{arguments\\.${name}\\}$`, 'm'),
        );
      }
    }
  });

  test('asks for the settings of the server, and hides the key', async () => {
    const { manifest } = await bundle();
    const env = manifest.server.mcp_config.env as Record<string, string>;
    const known = keysOf(settings).map(variableOf);
    expect(known).toEqual(expect.arrayContaining(Object.keys(env)));
    const asked = Object.values(env).map((value) => /^\$\{user_config\.(\w+)\}$/.exec(value)?.[1]);
    expect(asked).toEqual(Object.keys(manifest.user_config));
    expect(manifest.user_config.api_key).toMatchObject({
      sensitive: true,
      required: true,
      type: 'string',
    });
    expect(manifest.user_config.allow_writes).toMatchObject({ type: 'boolean', default: false });
  });

  test('has icons of the declared sizes', async () => {
    const { at, manifest } = await bundle();
    for (const { src, size } of [...manifest.icons, { src: manifest.icon, size: '512x512' }]) {
      const png = await readFile(join(at, src));
      expect(png.subarray(1, 4).toString()).toBe('PNG');
      expect(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`).toBe(size);
    }
  });
});

test('the directory of its main host gets the links and the privacy policy that it requires', async () => {
  const { manifest } = await bundle();
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const links = [manifest.homepage, manifest.documentation, manifest.support];
  for (const link of [...links, ...manifest.privacy_policies, manifest.repository.url])
    expect(link).toMatch(/^https:\/\/github\.com\/cpq-mcp\/cpq-mcp/);
  const [policy] = manifest.privacy_policies;
  expect(new URL(policy).hash).toBe('#privacy-policy');
  expect(readme).toMatch(/^## Privacy policy$/m);
});

test('the install buttons of the README connect to the server that npm start serves, and carry nothing else', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const links = [
    ...readme.matchAll(/\]\((https:[^)]*install\?[^)]*|https:[^)]*install-mcp\?[^)]*)\)/g),
  ];
  const configs = links.map(([, link = '']) => new URL(link).searchParams.get('config') ?? '');
  const [vscode = '', cursor = ''] = configs;
  const url = 'http://127.0.0.1:3333/mcp';
  expect(configs).toHaveLength(2);
  expect(JSON.parse(vscode)).toEqual({ type: 'http', url });
  expect(JSON.parse(Buffer.from(cursor, 'base64').toString())).toEqual({ url });
});

/** As the schema of the registry has it, whose texts have at most a hundred letters. */
const serverFile = async () => {
  const { version, mcpName } = await description();
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    title: 'Quotes and pipeline',
    description: expect.stringMatching(/^.{1,100}$/),
    version,
  };
};

test('server.json is valid, and names this package', async () => {
  expect(await readJson(join(root, 'server.json'))).toEqual(await serverFile());
  const { version, mcpName } = await description();
  expect(mcpName).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

describe('what other files repeat of package.json', () => {
  const script = join(root, 'scripts', 'generate-metadata.mjs');
  const files = ['package.json', 'server.json', 'manifest.json', 'CHANGELOG.md'];
  const runIn = (cwd: string, ...words: string[]) =>
    execute(process.execPath, [script, ...words], { cwd });

  async function copied(name: string): Promise<string> {
    const to = join(await folder(), name);
    await mkdir(to);
    for (const file of files) await copyFile(join(root, file), join(to, file));
    return to;
  }

  test('is up to date', async () => {
    expect((await runIn(root, '--check')).stderr).toBe('');
  });

  test('follows the repository, which a fork changes in one line', async () => {
    const fork = await copied('fork');
    const own = await readFile(join(fork, 'package.json'), 'utf8');
    const { repository } = JSON.parse(own);
    await writeFile(join(fork, 'package.json'), own.replace(repository, 'github:acme/quotes-mcp'));
    await expect(runIn(fork, '--check')).rejects.toMatchObject({ code: 1 });
    await runIn(fork);
    await runIn(fork, '--check');
    const texts = await Promise.all(files.map((file) => readFile(join(fork, file), 'utf8')));
    expect(texts.join('')).not.toContain(repository.replace('github:', ''));
    expect((await readJson(join(fork, 'server.json'))).name).toBe('io.github.acme/quotes-mcp');
  });

  test('names the npm package of this version once it is released, and not before', async () => {
    const released = await copied('released');
    await runIn(released, '--released');
    const { version } = await description();
    const variable = { description: expect.any(String), isRequired: true };
    const npmPackage = {
      ...{ registryType: 'npm', identifier: 'cpq-mcp', version, transport: { type: 'stdio' } },
      environmentVariables: [
        { name: 'CPQ_BASE_URL', ...variable },
        { name: 'CPQ_API_KEY', ...variable, isSecret: true },
      ],
    };
    expect(await readJson(join(released, 'server.json'))).toEqual({
      ...(await serverFile()),
      packages: [npmPackage],
    });
  });
});

describe('generated files', () => {
  test.each(['settings', 'tools', 'compatibility', 'hosts'])('are up to date: %s', async (what) => {
    const words = ['scripts/run-ts.mjs', `scripts/generate-${what}.ts`, '--check'];
    const { stderr } = await execute(process.execPath, words, { cwd: root });
    expect(stderr).toBe('');
  });

  test('are reported when outdated, and generated again', async () => {
    const elsewhere = join(await folder(), 'elsewhere');
    await mkdir(join(elsewhere, 'docs'), { recursive: true });
    await writeFile(join(elsewhere, 'docs', 'settings.md'), '# Settings of last year');
    const script = [join(root, 'scripts', 'run-ts.mjs'), 'scripts/generate-settings.ts'];
    const checked = execute(process.execPath, [...script, '--check'], { cwd: elsewhere });
    await expect(checked).rejects.toMatchObject({
      code: 1,
      stderr: 'docs/settings.md is out of date: npm run generate:settings\n',
    });
    await execute(process.execPath, script, { cwd: elsewhere });
    const made = await readFile(join(elsewhere, 'docs', 'settings.md'), 'utf8');
    expect(made).toBe(await readFile(join(root, 'docs', 'settings.md'), 'utf8'));
  });
});
