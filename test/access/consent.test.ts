import { expect, test } from 'vitest';
import * as z from 'zod';
import { bearer, callerAt, startWithTokens } from '../support/access.ts';
import type { Person } from '../support/clients.ts';
import { anyOpportunity, personAnswers, putsOf, recordOf, reportOf } from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import type { Answer, Caller } from '../support/hosts.ts';
import { shared } from '../support/shared.ts';

const { sandbox, address } = embeddedTenant({ scale: 0.1 });

const server = shared(async () => {
  const grants = 'read,opportunity:write';
  const team = await startWithTokens(await address('all'), {
    CPQ_GRANTS: grants,
    CPQ_CONSENT: 'token',
    CPQ_WRITES_PER_HOUR: '100',
  });
  const [anna, bert] = [
    await team.add('anna', '--grants', grants),
    await team.add('bert', '--grants', grants),
  ];
  return { ...team, tokens: { anna, bert, reader: await team.add('reader') } };
});

const as = async (name: 'anna' | 'bert' | 'reader', person?: Person): Promise<Caller> => {
  const { tokens, ...team } = await server();
  return callerAt(team, bearer(tokens[name]), person && { person });
};

const wrote = ({ result }: Answer) => reportOf(result);

test('a confirmation token works once, and only for the caller who received it', async () => {
  const [anna, bert] = await Promise.all([as('anna'), as('bert')]);
  const at = await address('all');
  const { id, externalIdentifier: external_id } = await anyOpportunity(at);
  const args = { external_id, description: 'what anna wants' };
  const preview = wrote(await anna.ask('cpq_upsert_opportunity', args));
  const { confirm } = preview;
  expect(confirm).toMatch(/^\w/);
  const before = await putsOf(await sandbox());
  const stolen = await bert.ask('cpq_upsert_opportunity', { ...args, confirm });
  expect(wrote(stolen).text).toContain('another change');
  expect(await putsOf(await sandbox())).toEqual(before);
  expect((await recordOf(at, id)).description).not.toBe('what anna wants');
  const done = wrote(await anna.ask('cpq_upsert_opportunity', { ...args, confirm }));
  expect(done.isError).toBe(false);
  expect((await recordOf(at, id)).description).toBe('what anna wants');
  const { change_id } = done;
  const back = wrote(await anna.ask('cpq_revert_change', { change_id }));
  const reverting = { change_id, confirm: back.confirm };
  expect(wrote(await bert.ask('cpq_revert_change', reverting)).text).toContain('another change');
  expect((await recordOf(at, id)).description).toBe('what anna wants');
  const again = wrote(await anna.ask('cpq_upsert_opportunity', { ...args, confirm }));
  expect(again.outcome).toBe('no_change');
  await Promise.all([anna.close(), bert.close()]);
});

test('the question to a person is answered only for the caller who asked, not for another with an equal request', async () => {
  const at = await address('all');
  const { id, externalIdentifier: external_id } = await anyOpportunity(at);
  const args = { external_id, description: 'asked by anna' };
  const params = { name: 'cpq_upsert_opportunity', arguments: args };
  const asking = async (name: 'anna' | 'bert', more: Record<string, unknown> = {}) => {
    const { client, close } = await as(name, personAnswers.accepts);
    const sdk = client.sdk as { request(...words: unknown[]): Promise<Record<string, unknown>> };
    const request = { method: 'tools/call', params: { ...params, ...more } };
    const result = await sdk.request(request, z.looseObject({}), { allowInputRequired: true });
    await close();
    return result;
  };
  const asked = await asking('anna');
  expect(asked.resultType).toBe('input_required');
  const { requestState } = asked;
  const answered = {
    requestState,
    inputResponses: { consent: { action: 'accept', content: { agree: true } } },
  };
  const stolen = await asking('bert', answered);
  expect(JSON.stringify(stolen)).toContain('another change');
  expect((await recordOf(at, id)).description).not.toBe('asked by anna');
  const good = await asking('anna', answered);
  expect(JSON.stringify(good)).not.toContain('another change');
  expect((await recordOf(at, id)).description).toBe('asked by anna');
});

test('the journal names the caller who wrote, without a secret', async () => {
  const [bert, reader] = await Promise.all([as('bert'), as('reader')]);
  const at = await address('all');
  const { externalIdentifier: external_id } = await anyOpportunity(at);
  const args = { external_id, description: `by bert, ${Math.random()}` };
  const { confirm } = wrote(await bert.ask('cpq_upsert_opportunity', args));
  const { change_id } = wrote(await bert.ask('cpq_upsert_opportunity', { ...args, confirm }));
  const listed = await bert.ask('cpq_list_changes', { opportunity: external_id });
  const row = listed.records.find((one) => one.change_id === change_id);
  expect(row).toMatchObject({ caller: 'token:bert', consent: 'token' });
  // A caller that may not write does not see the list of changes.
  expect(await reader.names()).not.toContain('cpq_list_changes');
  await Promise.all([bert.close(), reader.close()]);
});
