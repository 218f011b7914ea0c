import { expect, test } from 'vitest';
import { nameReferences } from '../../src/tenant/read-collections.ts';
import { openTenant } from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';

const deal = { id: 'o1', company: { id: 'c1', name: 'Before' } };
const contact = { id: 'p1', companyId: 'c1', companyName: 'Before' };
const others = [{ id: 'o2', company: { id: 'c2', name: 'Same' } }, { id: 'o3' }];
const company = [
  { id: 'c1', name: 'After' },
  { id: 'c2', name: ' Same' },
];

const tenant = closing(openTenant({ url: 'http://127.0.0.1:9' }));

test('records that were kept have the name that their company has now', async () => {
  const deals = await nameReferences(tenant, 'opportunity', [deal, ...others], { company }, true);
  expect(deals).toEqual([{ id: 'o1', company: { id: 'c1', name: 'After' } }, ...others]);
  const contacts = await nameReferences(tenant, 'contact', [contact], { company }, true);
  expect(contacts).toEqual([{ ...contact, companyName: 'After' }]);
});

test('what was just read is newer than the kept companies, and stays', async () => {
  const deals = [deal, ...others];
  expect(await nameReferences(tenant, 'opportunity', deals, { company })).toBe(deals);
  expect(await nameReferences(tenant, 'opportunity', deals, {}, true)).toBe(deals);
});
