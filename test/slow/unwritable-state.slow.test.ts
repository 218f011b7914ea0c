import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTeam, type Team } from '../support/access.ts';
import { describeWhere, describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { closing, newFolder } from '../support/shared.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

/** State that cannot be written is reported by health checks and logs. */

const key = 'key-of-a-server-that-cannot-write';

async function serve(env: Record<string, string>): Promise<Team> {
  const upstream = closing(await startUpstream({ keys: new Set([key]) }));
  const where = { CPQ_BASE_URL: upstream.url, CPQ_API_KEY: key };
  return startTeam({ ...where, CPQ_WEBHOOK_SECRET: webhookSecret, ...env });
}

const deliverTo = async ({ url }: Team, id: string): Promise<number> => {
  const event = { id, event: 'company.updated', data: { id, name: 'x'.repeat(8_000) } };
  return (await deliver(webhooksAt(url, 'default'), event)).status;
};

async function readiness({ url }: Team): Promise<Record<string, unknown>> {
  return (await (await fetch(new URL('/readyz', url))).json()) as Record<string, unknown>;
}

async function healthy({ url }: Team): Promise<string | undefined> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return /^cpq_state_healthy\{.*\} (\d)$/m.exec(text)?.[1];
}

async function expectWell(server: Team): Promise<void> {
  await until(() => readiness(server)).toEqual({ status: 'ready' });
  expect(await healthy(server)).toBe('1');
}

async function expectUnwritable(server: Team): Promise<void> {
  const { status, reasons } = await readiness(server);
  expect(status).toBe('degraded');
  expect(String(reasons)).toMatch(
    /state cannot be written since 20.*writes and webhooks are refused/,
  );
  expect(await healthy(server)).toBe('0');
  expect(server.stderr()).toContain('state cannot be written');
}

describeWhere(canMount(), 'the right to mount a file system', 'a full disk', () => {
  test('is reported until a write succeeds again', async () => {
    const folder = smallDisk();
    const server = await serve({ CPQ_STATE_DIR: folder });
    expect(await deliverTo(server, 'before')).toBe(200);
    await expectWell(server);
    const filler = join(folder, 'filler');
    await expect(writeFile(filler, Buffer.alloc(1024 * 1024))).rejects.toThrow('ENOSPC');
    expect(await deliverTo(server, 'meanwhile')).toBe(503);
    await expectUnwritable(server);
    await rm(filler);
    expect(await deliverTo(server, 'meanwhile')).toBe(200);
    await expectWell(server);
    expect(server.stderr()).toContain('state can be written again');
  });
});

describe('a read-only folder', () => {
  test('is reported until the next write succeeds', async () => {
    const folder = join(newFolder(), 'state');
    await appendFile(folder, 'a file where the folder should be');
    const server = await serve({ CPQ_STATE_DIR: folder });
    expect(await deliverTo(server, 'first')).toBe(503);
    await expectUnwritable(server);
    await rm(folder);
    expect(await deliverTo(server, 'first')).toBe(200);
    await expectWell(server);
  });
});

describeWith('redis', 'a Redis that refuses writes', () => {
  test('is reported until it accepts writes', async () => {
    const redis = await startRedis();
    const server = await serve({ CPQ_STATE_DIR: newFolder(), CPQ_REDIS_URL: redis.url.href });
    await expectWell(server);
    await redis.ask('ACL', 'SETUSER', 'default', '-eval');
    expect(await deliverTo(server, 'refused')).toBe(503);
    await expectUnwritable(server);
    await redis.ask('ACL', 'SETUSER', 'default', '+eval');
    await expectWell(server);
    expect(server.stderr()).toContain('state can be written again');
  });
});
