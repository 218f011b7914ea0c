import { expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Connection, modernHttp, open } from '../support/hosts.ts';
import { newFolder } from '../support/shared.ts';
import { deliver, everyEvent, webhookSecret, webhooksAt } from '../support/webhooks.ts';

const { address } = embeddedTenant({ scale: 0.1 });

const serve = (folder: string): Promise<Connection> =>
  open({ at: address, on: modernHttp, folder, webhookSecret });

const payloadOf = (number: number) => ({
  event: 'quote.updated',
  eventId: `e${number}`,
  data: { id: `q${number}`, text: 'x'.repeat((number * 37) % 2_000) },
});

test('an acknowledged event is stored once, even if the process is killed', async () => {
  const folder = newFolder();
  const answered = new Set<string>();
  let number = 0;
  for (const limit of [40, 90, 150]) {
    const server = await serve(folder);
    const at = webhooksAt(server.url ?? '', 'default');
    const send = async () => {
      for (;;) {
        const mine = number++;
        const { status } = await deliver(at, payloadOf(mine));
        expect(status).toBe(200);
        answered.add(`q${mine}`);
        // Killed while other deliveries are under way.
        if (answered.size === limit) server.process.kill('SIGKILL');
      }
    };
    const senders = await Promise.allSettled(Array.from({ length: 8 }, send));
    expect(senders.map(({ status }) => status)).toEqual(Array(8).fill('rejected'));
    await server.process.exited;
  }
  const server = await serve(folder);
  const idsOf = async () => (await everyEvent(server)).map(({ id }) => id);
  const kept = new Set(await idsOf());
  expect([...answered].filter((id) => !kept.has(id))).toEqual([]);
  expect(answered.size).toBeGreaterThanOrEqual(150);
  // The service repeats the deliveries without an answer, and some others.
  for (let at = 0; at < number; at++) {
    await deliver(webhooksAt(server.url ?? '', 'default'), payloadOf(at));
  }
  const all = await idsOf();
  expect(all).toHaveLength(number);
  expect(new Set(all).size).toBe(number);
});
