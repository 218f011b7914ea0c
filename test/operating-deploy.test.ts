import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { settings } from '../src/config.ts';
import { describeWith } from './support/needs.ts';

/** The files for running it: that they fit what is in the repository. None of them is started here. */

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFile(join(root, file), 'utf8');
const files = ['Dockerfile', 'deploy/compose.yaml', 'deploy/nginx.conf', 'deploy/cpq-mcp.service'];
const known = new Set<string>(Object.values(settings).map(({ env }) => env));

test.each([...files, 'docs/operations.md'])('%s names settings that there are', async (file) => {
  const named = (await read(file)).match(/\bCPQ_[A-Z_]+[A-Z]\b/g) ?? [];
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('what the image is built from is there, and let through to the build', async () => {
  const lines = (await read('Dockerfile')).matchAll(/^COPY (?!--from)(?<from>.+) \S+$/gm);
  const copied = [...lines].flatMap(({ groups }) => groups?.from?.split(' ') ?? []);
  const let_ = (await read('.dockerignore')).matchAll(/^!(?<name>\S+)$/gm);
  const through = [...let_].map(({ groups }) => groups?.name ?? '');
  expect(through).toEqual(expect.arrayContaining(copied.filter((name) => name !== '.')));
  for (const name of through) await expect(stat(join(root, name))).resolves.toBeDefined();
});

test('the image has no more of the server than the bundle, and does not run as root', async () => {
  const stages = (await read('Dockerfile')).split(/^FROM /m);
  const last = stages.at(-1) ?? '';
  expect(last).not.toMatch(/npm|COPY \./);
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
});

test('as many servers are started as are counted, and nginx knows each', async () => {
  const [compose, nginx] = [await read('deploy/compose.yaml'), await read('deploy/nginx.conf')];
  const names = [...compose.matchAll(/^ {2}(server-\d+):$/gm)].map(([, name]) => name);
  const known = [...nginx.matchAll(/^ +server (\S+):3333 /gm)].map(([, name]) => name);
  expect(known).toEqual(names);
  expect(compose).toMatch(new RegExp(`CPQ_REPLICAS: '${names.length}'`));
  const [, address] = /^ {2}nginx:$[\s\S]*?ipv4_address: (\S+)/m.exec(compose) ?? [];
  expect(compose).toContain(`CPQ_TRUSTED_PROXIES: ${address}\n`);
});

test('no file for running it is left unlisted', async () => {
  const deploy = (await readdir(join(root, 'deploy'))).map((name) => `deploy/${name}`);
  expect(deploy.toSorted()).toEqual(files.filter((file) => file !== 'Dockerfile').toSorted());
});

describeWith('nginx', 'nginx', () => {
  test('understands its configuration', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cpq-mcp-nginx-'));
    try {
      const config = join(folder, 'nginx.conf');
      await certificateIn(folder);
      // Names of other machines are looked up at once, and only root may use the usual places.
      const local = (await read('deploy/nginx.conf'))
        .replaceAll(/server-\d+:3333/g, '127.0.0.1:3333')
        .replaceAll('/etc/nginx/tls', folder)
        .replace('/dev/stdout', join(folder, 'access.log'))
        .replaceAll('listen 443', 'listen 8443');
      await writeFile(config, `pid ${folder}/nginx.pid;\n${local}`);
      const { stderr } = await promisify(execFile)('nginx', ['-t', '-e', 'stderr', '-c', config]);
      expect(stderr).toContain('test is successful');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function certificateIn(folder: string): Promise<void> {
  const to = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', ...to];
  await promisify(execFile)('openssl', words);
}
