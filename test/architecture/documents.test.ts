import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { run } from '../support/process.ts';
import { shared } from '../support/shared.ts';

/**
 * Everything that the documents refer to exists: pages, headings, commands, flags, scripts, variables and messages.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

const pages = shared(async () => {
  const inDocs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  const names = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  const files = [...names, ...inDocs.map((name) => `docs/${name}`)];
  return new Map(await Promise.all(files.map(async (file) => [file, await read(file)] as const)));
});

/** The anchor that code hosts give a heading: lower case, without punctuation, blanks as hyphens. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const withoutCode = (text: string): string => text.replaceAll(/^( *)```.*?^ *```/gms, '');

const withoutSpans = (text: string): string => withoutCode(text).replaceAll(/`[^`\n]*`/g, '');

const anchorsOf = (text: string): Set<string> =>
  new Set([...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title)));

/** The code in a document: shell blocks without comments, and code spans. */
function codeIn(text: string): string[] {
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block.split('\n').map((line) => line.split(' #')[0]?.trim() ?? ''),
  );
  const spans = [...withoutCode(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return [...blocks, ...spans];
}

const commandLine = /^ *(?:[A-Z_]+=\S+ )*(?:bash|cpq-mcp|curl|kill|node|npm|npx) .*$/gm;

interface ShownCommand {
  file: string;
  code: string;
  command: string;
  flags: string[];
}

async function shownCommands(): Promise<ShownCommand[]> {
  return [...(await pages())].flatMap(([file, text]) =>
    codeIn(text).flatMap((code) => {
      const call = /(?:cpq-mcp|dist\/cpq-mcp\.js)(?: ([a-z]+))?((?: .*)?)$/.exec(code);
      if (!call) return [];
      const [, command = 'stdio', rest = ''] = call;
      const flags = (rest.match(/--[a-z-]+/g) ?? []).filter((flag) => flag !== '--help');
      return [{ file, code, command, flags }];
    }),
  );
}

async function eachPage(find: (text: string, file: string) => string[]): Promise<string[]> {
  return [...(await pages())].flatMap(([file, text]) =>
    find(text, file).map((found) => `${file}: ${found}`),
  );
}

test('links lead to files and headings that exist', async () => {
  const all = await pages();
  const files = new Set(all.keys());
  const missing: string[] = [];
  for (const [file, text] of all)
    for (const [, target = ''] of withoutSpans(text).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : normalize(join(dirname(file), path));
      const exists = files.has(linked) || (await read(linked).then(Boolean, () => false));
      if (!exists || (anchor && !anchorsOf(all.get(linked) ?? '').has(anchor)))
        missing.push(`${file}: ${target}`);
    }
  expect(missing).toEqual([]);
});

describe('what documents name as code', () => {
  test('commands are in blocks marked sh, which the slow tests run', async () => {
    const unmarked = await eachPage((text) =>
      [...text.matchAll(/^ *```(\w*)\n(.*?)^ *```/gms)].flatMap(([, language, block = '']) =>
        language === 'sh' ? [] : (block.match(commandLine) ?? []),
      ),
    );
    expect(unmarked).toEqual([]);
  });

  test('npm scripts exist', async () => {
    const { scripts } = JSON.parse(await read('package.json'));
    const named = await eachPage((text) =>
      codeIn(text).flatMap((code) =>
        [...code.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].flatMap(([, script = '']) =>
          script in scripts ? [] : [script],
        ),
      ),
    );
    expect(named).toEqual([]);
  });

  test('commands have the flags that they are shown with', async () => {
    const help = new Map<string, string>();
    const wrong: string[] = [];
    for (const { file, code, command, flags } of await shownCommands()) {
      if (!help.has(command)) help.set(command, (await run([command, '--help'])).stdout);
      const known = help.get(command) ?? '';
      if (known === '' || !flags.every((flag) => known.includes(flag)))
        wrong.push(`${file}: ${code}`);
    }
    expect(wrong).toEqual([]);
  });

  test('variables are settings, or of scripts and hosts', async () => {
    const settings = await read('docs/settings.md');
    const ofConfig = ['launch', 'hosts'].map((name) => `src/commands/config/${name}.ts`);
    const sources = ['.ci/run', 'src/config.ts', ...ofConfig];
    const scripts = (await Promise.all(sources.map(read))).join('');
    const unknown = await eachPage((text) =>
      [...text.matchAll(/\bCPQ_[A-Z_]+[A-Z]\b/g)]
        .map(([name]) => name)
        .filter((name) => !settings.includes(`\`${name}\``) && !name.startsWith('CPQ_TEST_'))
        .filter((name) => !scripts.includes(name)),
    );
    expect(unknown).toEqual([]);
  });

  test('messages in the list of failures are messages of the server', async () => {
    const folder = join(root, 'src');
    const files = await readdir(folder, { recursive: true });
    const sources = await Promise.all(
      files
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFile(join(folder, file), 'utf8')),
    );
    const text = (await pages()).get('docs/troubleshooting.md') ?? '';
    const messages = [...text.matchAll(/^- `([^`]+)`:/gm)].map(([, message = '']) => message);
    expect(messages.length).toBeGreaterThan(20);
    const ofHosts = ['spawn node ENOENT'];
    const isIn = (source: string, message: string): boolean =>
      message.split('…').every((part) => source.includes(part.trim()));
    const unknown = messages.filter((message) => !sources.some((one) => isIn(one, message)));
    expect(unknown).toEqual(ofHosts);
  });
});
