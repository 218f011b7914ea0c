import { describe, expect, test } from 'vitest';
import { readSettings, settingWarnings } from '../../src/config.ts';
import { environmentFor } from '../support/hosts.ts';
import { type Environment, runHere, startHere } from '../support/process.ts';

const embedded = environmentFor('embedded');
/** Of a tenant that is not asked: these servers are only started. */
const unasked = environmentFor({ baseUrl: 'http://127.0.0.1:9', key: 'any-key-at-all' });

/** The start of a command with these variables besides. */
const starts: Record<
  string,
  (env: Environment) => Promise<{ status?: number | undefined; stderr: string }>
> = {
  stdio: (env) => runHere(['stdio'], { ...unasked, ...env }),
  http: async (env) => {
    const running = await startHere(['http', '--port', '0'], { ...unasked, ...env });
    const exited = await Promise.race([running.exited, running.says(/Stop with/).catch(() => {})]);
    if (!exited || !('status' in exited)) return { stderr: running.output.stderr };
    return { status: exited.status, stderr: running.output.stderr };
  },
  doctor: async (env) => {
    const { status, stdout, stderr } = await runHere(['doctor'], { ...embedded, ...env });
    return { status, stderr: stdout + stderr };
  },
};

describe.each(Object.entries(starts))('cpq-mcp %s', (_, begin) => {
  test('does not start with a variable that is no setting', async () => {
    const { status, stderr } = await begin({ CPQ_ALOWED_STAGES: 'Won' });
    expect(status).toBe(2);
    expect(stderr).toContain('CPQ_ALOWED_STAGES is not a setting. Nearest: CPQ_ALLOWED_STAGES');
  });

  test('starts with the variables of a Kubernetes service, and lists them as ignored', async () => {
    const { status, stderr } = await begin(kubernetesService('CPQ_MCP'));
    expect(status ?? 0).toBe(0);
    expect(stderr).toMatch(/no settings:\s.*CPQ_MCP_PORT_3333_TCP/s);
  });
});

/** What Kubernetes sets in every pod of a namespace for a service. */
function kubernetesService(prefix: string, port = 3333): Environment {
  const url = `tcp://10.96.0.12:${port}`;
  return {
    [`${prefix}_SERVICE_HOST`]: '10.96.0.12',
    [`${prefix}_SERVICE_PORT`]: String(port),
    [`${prefix}_SERVICE_PORT_HTTP`]: String(port),
    [`${prefix}_PORT`]: url,
    [`${prefix}_PORT_${port}_TCP`]: url,
    [`${prefix}_PORT_${port}_TCP_PROTO`]: 'tcp',
    [`${prefix}_PORT_${port}_TCP_PORT`]: String(port),
    [`${prefix}_PORT_${port}_TCP_ADDR`]: '10.96.0.12',
  };
}

const startsStdio = (env: Environment) => runHere(['stdio'], { ...unasked, ...env });

describe('an unknown variable', () => {
  test.each([
    ['with a word of no setting', 'CPQ_BARRED_STAGES', '. Every setting'],
    ['of an older version', 'CPQ_READ_ONLY', '. Every setting'],
    ['with letters in another order', 'CPQ_WRITE_FILEDS', '. Nearest: CPQ_WRITE_FIELDS'],
    ['that would limit writes', 'CPQ_MAX_WRITES', '. Every setting: cpq-mcp http --help'],
    ['in another letter case', 'cpq_write_fields', '. Nearest: CPQ_WRITE_FIELDS'],
    ['with words in another order', 'CPQ_STAGES_BARRED', ''],
    ['that would restrict writes', 'CPQ_WRITE_ACCESS', ''],
    ['that would restrict everything', 'CPQ_READONLY_MODE', ''],
    ['that would limit calls', 'CPQ_CALLS_AT_ONCE', ''],
    ['that would limit something else', 'CPQ_REQUEST_LIMIT', ''],
    ['with a letter too few', 'CPQ_BASE_UR', '. Nearest: CPQ_BASE_URL'],
    ['without an underscore', 'CPQ_APIKEY_FILE', '. Nearest: CPQ_API_KEY_FILE'],
  ])('%s stops the start: %s', (_, name, nearest) => {
    const read = () => readSettings([], { ...unasked, [name]: 'canary0UnknownValue' });
    expect(read).toThrow(`${name} is not a setting${nearest}`);
    expect(read).toThrow(/^((?!canary0UnknownValue).)*$/);
  });

  test('of few letters resembles a setting only if one letter differs', () => {
    const read = (name: string) => readSettings([], { ...unasked, [name]: '1' });
    expect(() => read('CPQ_AUTO')).toThrow('CPQ_AUTO is not a setting. Nearest: CPQ_AUTH');
    expect(read('CPQ_AUTOS')).toEqual(readSettings([], unasked));
  });

  test('stops the start together with all others', async () => {
    const { stderr } = await startsStdio({ CPQ_GRANT: 'read', CPQ_TOOLSET: 'routes' });
    expect(stderr).toMatch(/CPQ_GRANT is .*CPQ_GRANTS.* CPQ_TOOLSET is .*CPQ_TOOLSETS/);
  });

  test.each(['CPQ', 'CPQ_HTTP', 'CPQ_WRITES', 'CPQ_REDIS', 'CPQ_SANDBOX', 'CPQ_TENANTS'])(
    'never stops it where Kubernetes set it for a service: %s',
    (prefix) => {
      const set = kubernetesService(prefix);
      expect(readSettings([], { ...unasked, ...set })).toEqual(readSettings([], unasked));
      expect(settingWarnings(set).join()).toContain(`${prefix}_SERVICE_HOST`);
    },
  );

  test('that resembles no setting is a warning, without its value', async () => {
    const { status, stderr } = await startsStdio({ CPQ_DEPLOYMENT: 'canary0UnknownValue' });
    expect(status).toBe(0);
    expect(stderr).toMatch(/"level":"warn".*CPQ_DEPLOYMENT/);
    expect(stderr).not.toContain('canary0UnknownValue');
  });

  test('is no concern where an assistant keeps a secret in it', async () => {
    const kept = { CPQ_ACCESS_TOKEN: 'cpq_canary0Token', CPQ_LOGIN: 'Bearer canary0Token' };
    expect((await startsStdio(kept)).stderr).toBe('');
  });

  test('stops commands that change what the server does, too', async () => {
    const env = { CPQ_TOKEN_FILE: '/nowhere/tokens.json' };
    const { status, stderr } = await runHere(['token', 'list'], env);
    expect(status).toBe(2);
    expect(stderr).toContain('CPQ_TOKEN_FILE is not a setting. Nearest: CPQ_TOKENS_FILE');
  });
});
