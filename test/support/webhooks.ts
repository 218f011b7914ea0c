import type { Connection } from './hosts.ts';

export const webhookSecret = 'canary0webhook0secret0000';

export interface Sent {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** The address of a server's webhooks, from its endpoint. */
export const webhooksAt = (url: string, ...path: readonly string[]): string =>
  [url.replace(/mcp$/, 'webhooks'), ...path].join('/');

/** Sends a delivery, by default with the secret. */
export async function deliver(
  address: string,
  payload: unknown,
  headers: Record<string, string> = { 'x-webhook-secret': webhookSecret },
): Promise<Sent> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

/** Every event that a server lists, page by page. */
export async function everyEvent({ call }: Pick<Connection, 'call'>) {
  const all: Awaited<ReturnType<Connection['call']>>['records'] = [];
  for (;;) {
    const { records, page } = await call('cpq_list_events', { size: 100, from: all.length });
    all.push(...records);
    if (page.next === undefined) return all;
  }
}
