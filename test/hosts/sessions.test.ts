import { describe, expect, test } from 'vitest';
import type { Row } from '../support/consent.ts';
import { everything, startHttpServer } from '../support/hosts.ts';
import { closing, shared } from '../support/shared.ts';
import { showsViews } from '../support/view-client.ts';

/** Sessions of the older revisions over HTTP, which carry what a host says of itself. */

const server = shared(async () => {
  const started = await startHttpServer('embedded', everything);
  closing({ close: () => started.running.stop() });
  return started;
});

async function post(message: Row, session?: string) {
  const { url } = await server();
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
  const text = await response.text();
  return { status: response.status, session: response.headers.get('mcp-session-id'), text };
}

const initialize = (capabilities: Row, extra: Row = {}) =>
  post({
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'claude-ai', version: '1' },
      ...extra,
    },
  });
const list = { method: 'tools/list', params: {} };

describe('a session of the older revisions', () => {
  // The second form of the message is left to the SDK.
  test.each([{}, { _meta: { 'io.modelcontextprotocol/unknown': 1 } }])(
    'carries that a host shows views (%j)',
    async (extra) => {
      const { session } = await initialize(showsViews, extra);
      expect(session).toMatch(/^[\x21-\x7e]+$/);
      expect((await post(list, session ?? '')).text).toContain('cpq_answer_change');
      expect((await post(list)).text).not.toContain('cpq_answer_change');
    },
  );

  test('lets a host ask in a view', async () => {
    const { session } = await initialize(showsViews);
    const args = { external_id: 'SESSION-1', create: true, name: 'Asked in a view' };
    const call = {
      method: 'tools/call',
      params: { name: 'cpq_upsert_opportunity', arguments: args },
    };
    expect((await post(call, session ?? '')).text).toContain('cpq-mcp/consent');
    const without = (await post(call)).text;
    expect(without).not.toContain('cpq-mcp/consent');
    expect(without).toContain('CPQ_CONSENT=token');
  });

  test('is given only where something has to be known', async () => {
    expect((await initialize({})).session).toBeNull();
  });

  test('is refused where it was altered or not given out', async () => {
    const { session } = await initialize({ elicitation: {} });
    const [body = '', code = ''] = String(session).split('.');
    const other = Buffer.from(JSON.stringify({ name: 'x', asks: true, showsViews: true }));
    const invented = `${other.toString('base64url')}.${code}`;
    for (const wrong of ['x', '.', body, invented, `${session}.`, `${session} x`])
      expect((await post(list, wrong)).status, wrong).toBe(404);
    expect((await post(list, String(session))).status).toBe(200);
  });
});
