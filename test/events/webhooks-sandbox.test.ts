import { describe, expect, test } from 'vitest';
import { listen } from '../support/local-server.ts';
import { start } from '../support/process.ts';
import { type Sandbox, startSandbox } from '../support/sandbox.ts';
import { ask } from '../support/sandbox-client.ts';
import { closing } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { webhookSecret } from '../support/webhooks.ts';

interface Received {
  path: string;
  headers: Record<string, unknown>;
  body: string;
}

/** Receives deliveries and answers as configured; never for `silent`. */
async function startReceiver(answer: (count: number) => number | 'silent' = () => 200) {
  const received: Received[] = [];
  const server = await listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { url: path = '', headers } = request;
    received.push({ path, headers, body: Buffer.concat(chunks).toString() });
    const status = answer(received.length);
    if (status !== 'silent') response.writeHead(status).end();
  });
  const { url, close: stop } = closing(server);
  return { received, stop, url: `${url}/hook` };
}

const quick = { attempts: 4, firstMs: 5, maxMs: 20, timeoutMs: 5_000 };
const bodies = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body));

describe('every write', () => {
  test('sends its events, with the record as it is then', async () => {
    const { received, url } = await startReceiver();
    const sandbox = await startSandbox({ scale: 0.1, webhooks: [{ url }] });
    const [tenant] = sandbox.tenants;
    const write = async (pipelineStageId?: string) =>
      (
        await ask(tenant, 'opportunity/ext/X-1', {
          method: 'PUT',
          body: { name: 'Deal', pipelineStageId },
        })
      ).json;
    const { results } = (await ask(tenant, 'opportunity?size=100')).json;
    const stages = new Set<string>();
    for (const { pipelineStage } of results) if (pipelineStage) stages.add(pipelineStage.id);
    const [one, other] = [...stages];
    await write(one);
    const { id } = await write(other);

    await until(() => received.length).toBe(3);
    const all = bodies(received);
    expect(all.map(({ event }) => event).sort()).toEqual([
      'opportunity.created',
      'opportunity.status_changed',
      'opportunity.updated',
    ]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(3);
    const updated = all.find(({ event }) => event === 'opportunity.updated');
    expect(updated).toMatchObject({ data: { id, pipelineStage: { id: other } } });
  });

  test('of another tenant is not sent', async () => {
    const { received, url } = await startReceiver();
    const sandbox = await startSandbox({
      scale: 0.1,
      webhooks: [{ url, tenant: 'nordlicht' }],
    });
    const [first, second] = sandbox.tenants;
    if (!second) throw new Error('there is no second tenant');
    const body = { name: 'Deal' };
    for (const tenant of [first, second, second]) {
      await ask(tenant, 'opportunity/ext/X-1', { method: 'PUT', body });
    }
    await until(() => received.length).toBe(2);
    expect(
      bodies(received)
        .map(({ event }) => event)
        .sort(),
    ).toEqual(['opportunity.created', 'opportunity.updated']);
    await until(() => sandbox.webhooks.waiting).toBe(0);
    expect(received).toHaveLength(2);
  });
});

describe('a delivery', () => {
  const write = (sandbox: Sandbox, name: string) =>
    ask(sandbox.tenants[0], 'opportunity/ext/X-1', { method: 'PUT', body: { name } });

  test('carries the secret', async () => {
    const { received, url } = await startReceiver();
    const webhooks = [{ url, secret: webhookSecret }];
    const sandbox = await startSandbox({ scale: 0.1, webhooks });
    await write(sandbox, 'Größe');
    await until(() => received.length).toBe(1);
    const { headers, body } = received[0] as Received;
    expect(headers['x-webhook-secret']).toBe(webhookSecret);
    expect(JSON.parse(body)).toMatchObject({
      event: 'opportunity.created',
      data: { name: 'Größe' },
    });
  });

  test('is repeated unchanged until it is accepted', async () => {
    const answers = [500, 404, 302, 204];
    const { received, url } = await startReceiver((count) => answers[count - 1] ?? 500);
    const sandbox = await startSandbox({ scale: 0.1, webhooks: [{ url }], deliveryRetry: quick });
    await write(sandbox, 'Acme');
    await until(() => received.length).toBe(answers.length);
    await until(() => sandbox.webhooks.waiting).toBe(0);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(received).toHaveLength(answers.length);
  });

  test('that is never accepted is given up and reported', async () => {
    const failures: unknown[] = [];
    const { received, url } = await startReceiver(() => 503);
    const sandbox = await startSandbox({
      ...{ scale: 0.1, webhooks: [{ url }], deliveryRetry: quick },
      onDeliveryFailure: (failure) => failures.push(failure),
    });
    await write(sandbox, 'Acme');
    await until(() => failures).toHaveLength(1);
    const [{ id: eventId }] = bodies(received);
    expect(failures).toMatchObject([
      { eventId, event: 'opportunity.created', attempts: 4, why: 'answered with 503' },
    ]);
    expect(received).toHaveLength(4);
  });

  test.each([
    ['silent', 'no answer in time'],
    ['closed', 'ECONNREFUSED'],
  ])('to a receiver that is %s reports why it failed', async (who, why) => {
    const { url, stop } = await startReceiver(() => 'silent');
    if (who === 'closed') await stop();
    const failures: unknown[] = [];
    const sandbox = await startSandbox({
      ...{ scale: 0.1, webhooks: [{ url }] },
      deliveryRetry: {
        attempts: 2,
        firstMs: 1,
        maxMs: 5,
        timeoutMs: who === 'silent' ? 100 : 5_000,
      },
      onDeliveryFailure: (failure) => failures.push(failure),
    });
    await write(sandbox, 'Acme');
    await until(() => failures).toMatchObject([{ attempts: 2, why }]);
  });

  test('does not keep the sandbox from stopping', async () => {
    const { received, url } = await startReceiver(() => 'silent');
    const sandbox = await startSandbox({ scale: 0.1, webhooks: [{ url }] });
    await write(sandbox, 'Acme');
    await until(() => received.length).toBe(1);
    await sandbox.close();
  });
});

test('the command sends events to the given address, of which the secret is a part', async () => {
  const { received, url } = await startReceiver();
  const running = await start([
    'sandbox',
    '--webhook',
    `${url}/${webhookSecret}`,
    '--scale',
    '0.1',
  ]);
  const [, baseUrl] = await running.says(/CPQ_BASE_URL=(\S+)\n/);
  const [, key] = await running.says(/CPQ_API_KEY=(\S+)\n/);
  await fetch(`${baseUrl}/public-api/opportunity/ext/X-1`, {
    method: 'PUT',
    headers: { 'api-key': key ?? '' },
    body: JSON.stringify({ name: 'Acme' }),
  });
  await until(() => received.length).toBe(1);
  expect(received[0]).toMatchObject({ path: `/hook/${webhookSecret}` });
  const refused = await start(['sandbox', '--webhook', 'nowhere']);
  expect((await refused.exited).status).toBe(2);
  expect(refused.output.stderr).toContain('--webhook: is not a web address');
});
