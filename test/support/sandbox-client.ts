import type { Sandbox, SandboxTenant } from '../../src/sandbox/index.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire says
  json: any;
}

export interface Ask {
  method?: string;
  body?: unknown;
  key?: string | null;
}

/** Calls the API of a tenant; by default with the key that has all permissions. */
export async function ask(tenant: SandboxTenant, path: string, options: Ask = {}): Promise<Answer> {
  const { method = 'GET', body, key = tenant.keys.all } = options;
  const headers = { ...(key === null ? {} : { 'api-key': key }) };
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return answerOf(
    await fetch(`${tenant.baseUrl}/public-api/${path}`, { method, headers, body: text ?? null }),
  );
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json');
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** All records of a route with an envelope, page by page. */
export async function walk(tenant: SandboxTenant, path: string, size: number): Promise<Record[]> {
  const found: Record[] = [];
  for (;;) {
    const mark = path.includes('?') ? '&' : '?';
    const { json } = await ask(tenant, `${path}${mark}size=${size}&from=${found.length}`);
    found.push(...json.results);
    if (json.results.length === 0) return found;
  }
}
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire says
export type Record = any;

/** Rows of a query on the sandbox's tables. */
export function rows(sandbox: Sandbox, sql: string, ...params: (string | number)[]): Record[] {
  return sandbox.database.prepare(sql).all(...params);
}

export function first(sandbox: Sandbox, sql: string, ...params: (string | number)[]): Record {
  return rows(sandbox, sql, ...params)[0];
}
