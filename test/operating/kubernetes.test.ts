import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { settings, variableOf } from '../../src/config/settings.ts';
import { readSettings } from '../../src/config.ts';
import { parseNetworks } from '../../src/hosts/access/networks.ts';
import { keysOf } from '../../src/values.ts';
import { shared } from '../support/shared.ts';

/** The parts of the Kubernetes base belong together, and give the server no more rights than it needs. */

const folder = new URL('../../deploy/kubernetes/', import.meta.url);
const labels = z.strictObject({ 'app.kubernetes.io/name': z.literal('cpq-mcp') });
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.literal('http') }),
  periodSeconds: z.int(),
  failureThreshold: z.int().optional(),
});

const secretKey = z.strictObject({ name: z.literal('cpq-mcp'), key: z.string() });
const variable = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({ name: z.string(), valueFrom: z.strictObject({ secretKeyRef: secretKey }) }),
  z.strictObject({
    name: z.literal('POD_IP'),
    valueFrom: z.strictObject({
      fieldRef: z.strictObject({ fieldPath: z.literal('status.podIP') }),
    }),
  }),
]);
const sleep = z.tuple([z.literal('sleep'), z.string().regex(/^\d+$/)]);

const container = z.strictObject({
  name: z.string(),
  image: z.literal('cpq-mcp'),
  ports: z.tuple([z.strictObject({ name: z.literal('http'), containerPort: z.literal(3333) })]),
  lifecycle: z.strictObject({
    preStop: z.strictObject({ exec: z.strictObject({ command: sleep }) }),
  }),
  envFrom: z.tuple([z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })]),
  env: z.array(variable),
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() }),
  ),
});

const secretVolume = z.strictObject({
  name: z.string(),
  secret: z.strictObject({
    secretName: z.literal('cpq-mcp'),
    defaultMode: z.int(),
    items: z.array(z.strictObject({ key: z.string(), path: z.string() })),
  }),
});
const emptyVolume = z.strictObject({
  name: z.string(),
  emptyDir: z.strictObject({ sizeLimit: z.string() }),
});

const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: z.strictObject({ name: z.literal('cpq-mcp') }),
  spec: z.strictObject({
    replicas: z.int(),
    selector: z.strictObject({ matchLabels: labels }),
    strategy: z.strictObject({ rollingUpdate: z.strictObject({ maxUnavailable: z.literal(0) }) }),
    template: z.strictObject({
      metadata: z.strictObject({ labels }),
      spec: z.strictObject({
        automountServiceAccountToken: z.literal(false),
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          ...{ runAsUser: z.int(), runAsGroup: z.int(), fsGroup: z.int() },
          seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
        }),
        containers: z.tuple([container]),
        volumes: z.array(z.union([secretVolume, emptyVolume])),
      }),
    }),
  }),
});

const read = async (name: string): Promise<unknown> =>
  parse(await readFile(new URL(name, folder), 'utf8'));

const server = shared(async () => {
  const { spec } = deployment.parse(await read('deployment.yaml'));
  const { containers, volumes, terminationGracePeriodSeconds } = spec.template.spec;
  return {
    ...{ replicas: spec.replicas, container: containers[0], volumes },
    terminationGracePeriodSeconds,
  };
});

const configMap = shared(async () => {
  const schema = z.looseObject({ data: z.record(z.string(), z.string()) });
  return schema.parse(await read('configmap.yaml')).data;
});

test('every file is a resource of the base, of the kind and version that it is for', async () => {
  const base = z
    .looseObject({ resources: z.array(z.string()) })
    .parse(await read('kustomization.yaml'));
  const names = (await readdir(fileURLToPath(folder))).filter((name) => !/^kustom/.test(name));
  expect(base.resources.toSorted()).toEqual(names.toSorted());
  const kinds = await Promise.all(
    base.resources.map(async (name) => {
      const head = { apiVersion: z.string(), kind: z.string(), metadata: z.object({}) };
      const { apiVersion, kind } = z.looseObject(head).parse(await read(name));
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
  const { container, volumes } = await server();
  const data = await configMap();
  const given = container.env.map((one) => [one.name, 'value' in one ? one.value : undefined]);
  const { CPQ_METRICS_TOKEN_FILE, POD_IP, ...env } = { ...data, ...Object.fromEntries(given) };
  const known = keysOf(settings).map(variableOf);
  expect(known).toEqual(expect.arrayContaining(Object.keys(env)));
  expect([...readSettings([], env).auth]).toEqual(['token']);
  const mounted = volumes.flatMap((one) => ('secret' in one ? one.secret.items : []));
  const files = [CPQ_METRICS_TOKEN_FILE, env.CPQ_TENANTS_FILE, env.CPQ_TOKENS_FILE];
  expect(files.toSorted()).toEqual(mounted.map(({ path }) => `/etc/cpq-mcp/${path}`).toSorted());
  expect(env.CPQ_REDIS_URL).toBeUndefined();
});

test('the trusted network has to be replaced before the server starts', async () => {
  const { CPQ_TRUSTED_PROXIES = '' } = await configMap();
  expect(() => parseNetworks([CPQ_TRUSTED_PROXIES])).toThrow('is neither an address nor a network');
});

test('a pod may be addressed by its IP address, as Prometheus does', async () => {
  const { env } = (await server()).container;
  const [address, allowed] = ['POD_IP', 'CPQ_ALLOWED_HOSTS'].map((name) =>
    env.findIndex((one) => one.name === name),
  );
  expect(env.at(allowed ?? -1)).toMatchObject({ value: '$(POD_IP)' });
  // Kubernetes only replaces variables that are defined before.
  expect(address).toBeLessThan(allowed ?? -1);
});

test('a pod that ends waits for the last new connections, and then for calls in progress', async () => {
  const { container, terminationGracePeriodSeconds } = await server();
  const callSeconds = 8;
  const [, seconds] = container.lifecycle.preStop.exec.command;
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + callSeconds);
});

test('what the server writes to is mounted, and it is probed where it answers', async () => {
  const { container, volumes } = await server();
  const mounts = container.volumeMounts.map(({ name }) => name);
  expect(mounts.toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
  const paths = container.volumeMounts.map(({ mountPath }) => mountPath);
  expect(paths).toEqual(['/etc/cpq-mcp', '/tmp', '/var/lib/cpq-mcp']);
  const { livenessProbe, readinessProbe } = container;
  expect([livenessProbe.httpGet.path, readinessProbe.httpGet.path]).toEqual([
    '/healthz',
    '/readyz',
  ]);
});
