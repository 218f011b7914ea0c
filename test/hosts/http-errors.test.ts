import { expect, test } from 'vitest';
import type { Gate } from '../../src/hosts/access/gate.ts';
import { serveHttp } from '../../src/hosts/http.ts';
import { httpOptions } from '../support/http-options.ts';
import { closing, shared } from '../support/shared.ts';

const fail = (): never => {
  throw new Error('a defect');
};

const gate: Gate = { admit: async () => fail() };

const server = shared(async () => {
  const errors: string[] = [];
  const options = httpOptions({
    onError: (error) => errors.push(error.message),
    health: fail,
    webhooks: (path) => path === '/webhooks' && fail(),
  });
  const { url, close } = await serveHttp(gate, options);
  return closing({ url, close, errors });
});

test.each(['/readyz', '/webhooks', '/mcp'])(
  'a defect in what answers %s is a 500, is logged, and does not end the process',
  async (path) => {
    const { url, errors } = await server();
    errors.length = 0;
    const response = await fetch(new URL(path, url), { method: 'POST', body: '{}' });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: 'Internal error' });
    expect(errors).toEqual(['a defect']);
    expect((await fetch(new URL('/healthz', url))).status).toBe(200);
  },
);
