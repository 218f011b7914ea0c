import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everyHostHere, serving } from '../support/hosts.ts';
import { shared } from '../support/shared.ts';

const { sandbox, address } = embeddedTenant({ scale: 0.1 });
const [host] = everyHostHere;
if (!host) throw new Error('no host');
const server = serving({ at: address, on: host });

let made = 0;
async function company(row: Record<string, string>): Promise<string> {
  const { database, tenants } = await sandbox();
  made += 1;
  const id = `Named${String(made).padStart(15, '0')}`;
  const all = { tenant: tenants[0].name, id, ...row };
  const marks = Object.keys(all).map(() => '?');
  const sql = `insert into company (${Object.keys(all).join(', ')}) values (${marks.join(', ')})`;
  database.prepare(sql).run(...Object.values(all));
  return id;
}

/** All are written before the first read, because collections are cached. */
const companies = shared(async () => {
  const byId = await company({ name: 'Resolved by id', externalIdentifier: 'RES-A' });
  return {
    byId,
    second: await company({ name: 'RES-A', externalIdentifier: byId.toLowerCase() }),
    third: await company({ name: byId, externalIdentifier: 'RES-C' }),
    burnt: await company({ name: 'Phoenix Ltd', deleted: '2026-01-01T00:00:00Z' }),
    phoenix: await company({ name: 'Phoenix Ltd' }),
    gone: await company({ name: 'Gone Ltd', deleted: '2026-01-01T00:00:00Z' }),
    twins: [await company({ name: 'Twin Ltd' }), await company({ name: 'Twin Ltd' })],
  };
});

const briefed = async (text: string): Promise<unknown> => {
  await companies();
  const { data } = await server.call('cpq_brief_company', { company: text });
  return (data.company as { id?: string } | undefined)?.id;
};

describe('a company by id, external identifier or name', () => {
  test('is found by id before external identifier before name', async () => {
    const { byId, second, third } = await companies();
    expect(await briefed(byId)).toBe(byId);
    expect(await briefed('res a')).toBe(byId);
    expect(await briefed('RES-C')).toBe(third);
    expect(await briefed(second)).toBe(second);
  });

  test('of an ambiguous name is the one that is not deleted', async () => {
    const { phoenix } = await companies();
    expect(await briefed('phoenix ltd.')).toBe(phoenix);
  });

  test('may be deleted where no other has the name', async () => {
    const { gone } = await companies();
    expect(await briefed('Gone Ltd')).toBe(gone);
  });

  test('of an ambiguous name is not guessed: the candidates are returned', async () => {
    const { twins } = await companies();
    const { records } = await server.call('cpq_brief_company', { company: 'Twin Ltd' });
    expect(records.map(({ id }) => id)).toEqual(twins);
  });
});
