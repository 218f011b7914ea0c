import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { settings, variableOf } from '../../src/config/settings.ts';
import { readSettings } from '../../src/config.ts';
import { parseNetworks } from '../../src/hosts/access/networks.ts';
import { keysOf } from '../../src/values.ts';

/** The parts of the Kubernetes base belong together, and give the server no more rights than it needs. */

const folder = new URL('../../deploy/kubernetes/', import.meta.url);
const read = async (name: string) => parse(await readFile(new URL(name, folder), 'utf8'));

interface Variable {
  name: string;
  value?: string;
  valueFrom?: unknown;
}

const labels = { 'app.kubernetes.io/name': 'cpq-mcp' };
const given = expect.anything();

/** All that the container may have; what is `given` is tested below. */
const container = {
  name: 'cpq-mcp',
  image: 'cpq-mcp',
  ports: [{ name: 'http', containerPort: 3333 }],
  lifecycle: { preStop: { exec: { command: ['sleep', expect.stringMatching(/^\d+$/)] } } },
  envFrom: [{ configMapRef: { name: 'cpq-mcp' } }],
  env: given,
  livenessProbe: given,
  readinessProbe: given,
  resources: { requests: { cpu: given, memory: given }, limits: { memory: given } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: given,
};

const pod = {
  automountServiceAccountToken: false,
  terminationGracePeriodSeconds: expect.any(Number),
  securityContext: {
    runAsNonRoot: true,
    ...{ runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  containers: [container],
  volumes: given,
};

const deployed = async () => {
  const { spec } = (await read('deployment.yaml')).spec.template;
  const { containers, volumes, terminationGracePeriodSeconds } = spec;
  return { container: containers[0], volumes, terminationGracePeriodSeconds };
};

test('a pod has no more rights than it needs', async () => {
  expect(await read('deployment.yaml')).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'cpq-mcp' },
    spec: {
      replicas: expect.any(Number),
      selector: { matchLabels: labels },
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
      template: { metadata: { labels }, spec: pod },
    },
  });
});

test('every file is a resource of the base, of the kind and version that it is for', async () => {
  const { resources }: { resources: string[] } = await read('kustomization.yaml');
  const names = (await readdir(fileURLToPath(folder))).filter((name) => !/^kustom/.test(name));
  expect(resources.toSorted()).toEqual(names.toSorted());
  const kinds = await Promise.all(
    resources.map(async (name) => {
      const { apiVersion, kind } = await read(name);
      return [basename(name, '.yaml'), `${apiVersion} ${kind}`];
    }),
  );
  expect(Object.fromEntries(kinds)).toEqual({
    configmap: 'v1 ConfigMap',
    deployment: 'apps/v1 Deployment',
    service: 'v1 Service',
    'network-policy': 'networking.k8s.io/v1 NetworkPolicy',
    'disruption-budget': 'policy/v1 PodDisruptionBudget',
  });
});

test('the server gets valid settings, and its secrets by reference only', async () => {
  const { container, volumes } = await deployed();
  const { data } = await read('configmap.yaml');
  const variables: Variable[] = container.env;
  const values = variables.map(({ name, value }) => [name, value]);
  const { CPQ_METRICS_TOKEN_FILE, POD_IP, ...env } = { ...data, ...Object.fromEntries(values) };
  const known = keysOf(settings).map(variableOf);
  expect(known).toEqual(expect.arrayContaining(Object.keys(env)));
  expect([...readSettings([], env).auth]).toEqual(['token']);
  const [{ secret }] = volumes;
  expect(secret.secretName).toBe('cpq-mcp');
  const mounted: { path: string }[] = secret.items;
  const files = [CPQ_METRICS_TOKEN_FILE, env.CPQ_TENANTS_FILE, env.CPQ_TOKENS_FILE];
  expect(files.toSorted()).toEqual(mounted.map(({ path }) => `/etc/cpq-mcp/${path}`).toSorted());
  const byReference = variables.filter(({ value }) => value === undefined);
  expect(byReference.map(({ name, valueFrom }) => [name, valueFrom])).toEqual([
    ['POD_IP', { fieldRef: { fieldPath: 'status.podIP' } }],
    ['CPQ_REDIS_URL', { secretKeyRef: { name: 'cpq-mcp', key: 'redis-url' } }],
  ]);
});

test('the trusted network has to be replaced before the server starts', async () => {
  const { CPQ_TRUSTED_PROXIES } = (await read('configmap.yaml')).data;
  expect(() => parseNetworks([CPQ_TRUSTED_PROXIES])).toThrow('is neither an address nor a network');
});

test('a pod may be addressed by its IP address, as Prometheus does', async () => {
  const env: Variable[] = (await deployed()).container.env;
  const at = (name: string) => env.findIndex((one) => one.name === name);
  expect(env[at('CPQ_ALLOWED_HOSTS')]).toMatchObject({ value: '$(POD_IP)' });
  // Kubernetes only replaces variables that are defined before.
  expect(at('POD_IP')).toBeLessThan(at('CPQ_ALLOWED_HOSTS'));
});

test('a pod that ends waits for the last new connections, and then for calls in progress', async () => {
  const { container, terminationGracePeriodSeconds } = await deployed();
  const callSeconds = 8;
  const [, seconds] = container.lifecycle.preStop.exec.command;
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + callSeconds);
});

test('what the server writes to is mounted, and it is probed where it answers', async () => {
  const { container, volumes } = await deployed();
  expect(container.volumeMounts).toEqual([
    { name: 'secrets', mountPath: '/etc/cpq-mcp', readOnly: true },
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'state', mountPath: '/var/lib/cpq-mcp' },
  ]);
  expect(volumes).toEqual([
    { name: 'secrets', secret: given },
    { name: 'tmp', emptyDir: { sizeLimit: given } },
    { name: 'state', emptyDir: { sizeLimit: given } },
  ]);
  const { livenessProbe, readinessProbe } = container;
  expect(livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
  expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
});
