import { expect, test } from 'vitest';
import {
  bearer,
  callToolRequest,
  type Headers,
  newToken,
  send,
  startTeam,
  type Team,
} from '../support/access.ts';
import { valuesOf } from '../support/observed.ts';
import { closing, newFolder } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const metricsToken = 'canary0metrics0token0000';

interface Shared {
  team: Team;
  asked(): number;
  anna: Headers;
  ben: Headers;
  metric(name: string): Promise<Record<string, number>>;
}

/** A server of one tenant with two callers. */
async function startShared(more: Record<string, string> = {}): Promise<Shared> {
  const upstream = closing(await startUpstream());
  const env = { CPQ_STATE_DIR: newFolder() };
  const [anna, ben] = [await newToken(['anna'], env), await newToken(['ben'], env)];
  const team = await startTeam(
    {
      ...env,
      CPQ_AUTH: 'token',
      CPQ_BASE_URL: upstream.url,
      CPQ_API_KEY: 'any-key-at-all',
      CPQ_METRICS_TOKEN: metricsToken,
      CPQ_WEBHOOK_SECRET: 'canary0webhook0secret0000',
      ...more,
    },
    [anna, ben, metricsToken],
  );
  const metrics = () =>
    send(team, { method: 'GET', path: '/metrics', headers: bearer(metricsToken) });
  return {
    team,
    asked: () => upstream.requests.length,
    anna: bearer(anna),
    ben: bearer(ben),
    metric: async (name) => valuesOf((await metrics()).text, name),
  };
}

const call = callToolRequest('cpq_list_companies', { size: 1 });

test('a batch is refused as a whole', async () => {
  const { team, anna, asked } = await startShared();
  const reply = await send(team, { headers: anna, body: [call, { ...call, id: 2 }] });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain('one by one');
  expect(asked()).toBe(0);
});
