import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { settings, variableOf } from '../../src/config/settings.ts';
import { keysOf } from '../../src/values.ts';
import { fileIn } from '../support/access.ts';
import { freePort } from '../support/free-port.ts';
import { describeWith } from '../support/needs.ts';
import { runHere } from '../support/process.ts';
import { newFolder } from '../support/shared.ts';
import { until } from '../support/until.ts';

/** The deployment files refer to what is in the repository, and nginx behaves as documented. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFile(join(root, file), 'utf8');
const files = ['Dockerfile', 'deploy/compose.yaml', 'deploy/nginx.conf', 'deploy/cpq-mcp.service'];
const known = new Set<string>(keysOf(settings).map(variableOf));

test.each([...files, 'docs/operations.md'])('%s names existing settings', async (file) => {
  const named = (await read(file)).match(/\bCPQ_[A-Z_]+[A-Z]\b/g) ?? [];
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('the files that the image is built from exist and are not ignored', async () => {
  const lines = (await read('Dockerfile')).matchAll(/^COPY (?!--from)(?<from>.+) \S+$/gm);
  const copied = [...lines].flatMap(({ groups }) => groups?.from?.split(' ') ?? []);
  const let_ = (await read('.dockerignore')).matchAll(/^!(?<name>\S+)$/gm);
  const through = [...let_].map(({ groups }) => groups?.name ?? '');
  expect(through).toEqual(expect.arrayContaining(copied.filter((name) => name !== '.')));
  for (const name of through) await expect(stat(join(root, name))).resolves.toBeDefined();
});

test('the image contains only the bundle, and does not run as root', async () => {
  const stages = (await read('Dockerfile')).split(/^FROM /m);
  const last = stages.at(-1) ?? '';
  expect(last).not.toMatch(/npm|COPY \./);
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
});

/** Each file that shows how to create an access token, and what names the tenants file. */
test.each([
  ['Dockerfile', 'nothing'],
  ['deploy/compose.yaml', 'environment'],
  ['deploy/cpq-mcp.service', 'command'],
  ['deploy/kubernetes/kustomization.yaml', 'command'],
])(
  'the access token that %s shows how to create is for one tenant, which exists',
  async (file, by) => {
    const [, line = ''] = /\btoken (add .*)$/m.exec(await read(file)) ?? [];
    const folder = newFolder();
    // Who creates tokens need not be able to read the keys.
    const tenant = { baseUrl: 'https://tenant.example.com', apiKeyFile: 'missing' };
    const tenants = { acme: tenant, globex: tenant };
    const path = await fileIn(folder, 'tenants.json', { tenants });
    const env = { CPQ_STATE_DIR: folder, ...(by === 'environment' && { CPQ_TENANTS_FILE: path }) };
    const own = line.replaceAll(/\S*(tokens|tenants)\.json/g, join(folder, '$1.json'));
    const words = own.replace(/\/var\S+/, folder);
    const add = (name: string) =>
      runHere(['token', ...words.replace('NAME', name).split(' ')], env);
    expect((await add('initech')).status).toBe(by === 'nothing' ? 0 : 2);
    if (by !== 'nothing') expect(await add('acme')).toMatchObject({ status: 0 });
    const [added] = JSON.parse(await readFile(join(folder, 'tokens.json'), 'utf8')).tokens;
    expect([added.name, added.tenant]).toEqual(['anna', by === 'nothing' ? undefined : 'acme']);
  },
);

test('the image that the base of Kubernetes names has the tag that a release pushes', async () => {
  const { version } = JSON.parse(await read('package.json'));
  const { images } = parse(await read('deploy/kubernetes/kustomization.yaml'));
  expect(images).toEqual([{ name: 'cpq-mcp', newTag: version }]);
  const { jobs } = parse(await read('.github/workflows/release.yml'));
  const [build] = jobs.image.steps.filter(({ with: { tags } = { tags: '' } }) => tags);
  const tags = build.with.tags.trim().split('\n');
  expect(tags).toEqual([
    expect.stringContaining('outputs.number'),
    expect.stringMatching(/:latest$/),
  ]);
  const [number] = jobs.image.steps.filter(({ id = '' }) => id === 'version');
  expect(number.run).toMatch(/echo "number=\$\{GITHUB_REF_NAME#v\}" >> "\$GITHUB_OUTPUT"/);
});

test('a release runs no program that it downloads without checking its content', async () => {
  const { jobs } = parse(await read('.github/workflows/release.yml'));
  const steps: { run?: string }[] = Object.values<{ steps: [] }>(jobs).flatMap((job) => job.steps);
  const downloads = steps.map(({ run = '' }) => run).filter((run) => run.includes('curl'));
  expect(downloads).toHaveLength(1);
  expect(downloads[0]).toMatch(
    /^curl \S+ "[^"]+\$VERSION[^"]+"\necho "\$SHA256 .*sha256sum --check/,
  );
});

test.each(['ci', 'release'])('%s.yml names each action by a commit', async (name) => {
  const used = (await read(`.github/workflows/${name}.yml`)).match(/uses: .*/g) ?? [];
  expect(used.length).toBeGreaterThan(3);
  for (const line of used) expect(line).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test('nginx knows each server that is started', async () => {
  const [compose, nginx] = [await read('deploy/compose.yaml'), await read('deploy/nginx.conf')];
  const names = [...compose.matchAll(/^ {2}(server-\d+):$/gm)].map(([, name]) => name);
  const known = [...nginx.matchAll(/^ +server (\S+):3333 /gm)].map(([, name]) => name);
  expect(known).toEqual(names);
  const [, address] = /^ {2}nginx:$[\s\S]*?ipv4_address: (\S+)/m.exec(compose) ?? [];
  expect(compose).toContain(`CPQ_TRUSTED_PROXIES: ${address}\n`);
});

test('every deployment file is listed', async () => {
  const deploy = (await readdir(join(root, 'deploy'))).map((name) => `deploy/${name}`);
  const listed = [...files.filter((file) => file !== 'Dockerfile'), 'deploy/kubernetes'];
  expect(deploy.toSorted()).toEqual(listed.toSorted());
});

test('no service of compose runs with more than it needs', async () => {
  const { services } = parse(await read('deploy/compose.yaml'), { merge: true });
  expect(Object.keys(services)).toHaveLength(5);
  for (const [name, service] of Object.entries(services)) {
    expect({ name, service }).toMatchObject({
      service: { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
    });
  }
});

/** The shipped configuration with paths and ports of this machine. */
async function localNginx(folder: string, port: number, server: number): Promise<string> {
  await certificateIn(folder);
  const config = join(folder, 'nginx.conf');
  // nginx resolves host names when it starts, and only root may use the default paths.
  const local = (await read('deploy/nginx.conf'))
    .replaceAll(/server-\d+:3333/g, `127.0.0.1:${server}`)
    .replaceAll('/etc/nginx/tls', folder)
    .replace('/dev/stdout', join(folder, 'access.log'))
    .replaceAll('listen 443', `listen 127.0.0.1:${port}`);
  await writeFile(config, `pid ${folder}/nginx.pid;\ndaemon off;\n${local}`);
  return config;
}

/** Sends these bytes over TLS. @returns the beginning of the answer */
async function sendBytes(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    socket.write(bytes);
    const [first] = await once(socket, 'data');
    return String(first);
  } finally {
    socket.destroy();
  }
}

const secret = 'secret0in0an0address0012345';
const closes = 'Host: localhost\r\nConnection: close\r\n';
const post = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\n${closes}Content-Length: ${length}\r\n\r\n{}`;

/** Requests that nginx logs as errors, with the status of the answer. */
const failing: [what: string, bytes: string, status: number][] = [
  ['a webhook that no server accepts', post(`/webhooks/acme/${secret}`, 2), 502],
  ['an oversized webhook', post(`/webhooks/acme/${secret}`, 2_000_000), 413],
  ['an oversized request to a mistyped address', post(`/webhook/acme/${secret}`, 2_000_000), 413],
  ['a mistyped address', post(`/webhook/acme/${secret}`, 2), 404],
  ['a token in an address', post(`/mcp?token=${secret}`, 2), 502],
  ['a bad header', `GET /webhooks/a/${secret} HTTP/1.1\r\nHost: a b\r\n\r\n`, 400],
  ['a bad request line', `GET /webhooks/a/${secret} \u0001 HTTP/1.1\r\n\r\n`, 400],
  ['an oversized request line', `GET /webhooks/${secret}${'a'.repeat(40_000)} HTTP/1.1\r\n`, 414],
  [
    'oversized headers',
    `GET /webhooks/a/${secret} HTTP/1.1\r\n${closes}X: ${'a'.repeat(40_000)}\r\n\r\n`,
    400,
  ],
  [
    'secrets in headers',
    `GET /mcp HTTP/1.1\r\n${closes}Authorization: Bearer ${secret}\r\nReferer: https://a/${secret}\r\n\r\n`,
    502,
  ],
];

describeWith('nginx', 'nginx', () => {
  test('logs the status of each request, and none of its content', async () => {
    const [folder, port] = [newFolder(), await freePort()];
    const config = await localNginx(folder, port, await freePort());
    const nginx = spawn('nginx', ['-e', 'stderr', '-c', config]);
    const ended = once(nginx, 'exit');
    let errors = '';
    nginx.stderr.on('data', (part) => {
      errors += part;
    });
    const access = () => readFile(join(folder, 'access.log'), 'utf8');
    await until(() => access().then(() => 'there')).toBe('there');
    try {
      for (const [what, bytes, status] of failing) {
        const answer = await sendBytes(port, bytes);
        expect([what, /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]]).toEqual([what, String(status)]);
      }
    } finally {
      nginx.kill('SIGTERM');
      await ended;
    }
    const lines = (await access()).trim().split('\n');
    expect(lines).toHaveLength(failing.length);
    // The first was tried at both servers; then none was available for the next.
    const [tried = '', next = ''] = lines.filter((line) => line.includes(' POST 502 '));
    expect(tried).toMatch(/ 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ 502, 502$/);
    expect(next).toMatch(/ cpq_mcp 502$/);
    expect(`${lines.join('\n')}${errors}`).not.toContain(secret);
  });
});

async function certificateIn(folder: string): Promise<void> {
  const to = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', ...to];
  await promisify(execFile)('openssl', words);
}
