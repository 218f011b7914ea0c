import { describe, expect, test } from 'vitest';
import { bearer, newToken } from '../support/access.ts';
import { legacy } from '../support/fast-path-requests.ts';
import { startServer } from '../support/hosts.ts';
import { valuesOf } from '../support/observed.ts';
import { newFolder, shared } from '../support/shared.ts';
import { until } from '../support/until.ts';

/** What an operator sees of the built server. */

const folder = shared(async () => newFolder());

const metricsToken = 'metrics-token-of-this-test';

const server = shared(async () => {
  const env = {
    CPQ_AUTH: 'token',
    CPQ_STATE_DIR: await folder(),
    CPQ_METRICS_TOKEN: metricsToken,
    CPQ_LOG_LEVEL: 'info',
    CPQ_TRACING: '1',
  };
  const token = await newToken(['anna', '--grants', 'read'], env);
  return { token, ...(await startServer({ env })) };
});

async function call(headers: Record<string, string>): Promise<Response> {
  const { url } = await server();
  const sent = legacy('tools/call', { name: 'cpq_list_quotes', arguments: { size: 1 } });
  return fetch(url, { method: 'POST', headers: { ...sent.headers, ...headers }, body: sent.body });
}

async function metrics(name: string): Promise<Record<string, number>> {
  const { url } = await server();
  const answer = await fetch(new URL('/metrics', url), { headers: bearer(metricsToken) });
  return valuesOf(await answer.text(), name);
}

describe('a call', () => {
  test('is counted and logged with its caller and ids', async () => {
    const { token, running } = await server();
    const answer = await call({ ...bearer(token), 'x-request-id': 'of-a-proxy' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toBe('of-a-proxy');
    await until(() => running.output.stderr).toContain('"event":"call"');
    const line = running.output.stderr.split('\n').find((it) => it.includes('"event":"call"'));
    expect(JSON.parse(line ?? '')).toEqual({
      time: expect.any(String),
      level: 'info',
      event: 'call',
      request: 'of-a-proxy',
      caller: 'token:anna',
      tenant: 'default',
      tool: 'cpq_list_quotes',
      outcome: 'ok',
      ms: expect.any(Number),
    });
    expect(await metrics('cpq_calls_total')).toEqual({
      'tenant="default",tool="cpq_list_quotes",outcome="ok"': 1,
    });
    // The first list also asks whether the total is right.
    expect(await metrics('cpq_upstream_requests_total')).toEqual({
      'tenant="default",outcome="ok"': 2,
    });
    expect(await metrics('cpq_budget_left')).toEqual({ 'tenant="default"': expect.any(Number) });
  });

  test('without valid credentials is counted by its status', async () => {
    expect((await call({})).status).toBe(401);
    expect((await call(bearer('cpq_000000000000_wrong'))).status).toBe(401);
    const counted = await metrics('cpq_http_requests_total');
    expect(counted['route="/mcp",status="401"']).toBe(2);
  });
});

describe('metrics', () => {
  test('are served only with their token', async () => {
    const { url, token } = await server();
    const ask = (headers: Record<string, string>) =>
      fetch(new URL('/metrics', url), { headers }).then(({ status }) => status);
    expect(await ask({})).toBe(404);
    expect(await ask(bearer(token))).toBe(404);
    expect(await ask(bearer(`${metricsToken}x`))).toBe(404);
    expect(await ask(bearer(metricsToken))).toBe(200);
  });

  test('include the process and its state', async () => {
    expect(await metrics('cpq_state_healthy')).toEqual({ 'kind="local"': 1 });
    expect(await metrics('cpq_calls_in_flight')).toEqual({ '': 0 });
    const memory = await metrics('cpq_process_resident_memory_bytes');
    expect(memory['']).toBeGreaterThan(1_000_000);
  });
});
