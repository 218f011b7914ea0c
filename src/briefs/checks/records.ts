/** Checks of what integrations and people need to reach a record. */
import type { ApiRecord, Contact } from '../../api/records.ts';
import { compact, contactName, filled, type Named, named } from '../naming.ts';
import { isDeleted } from '../outcome.ts';
import type { Check, CheckData, Found } from './check.ts';
import { isListed } from './products.ts';

/** The resources that are read or written by an external identifier. */
const identified = ['company', 'contact', 'product', 'opportunity'] as const;
type Identified = (typeof identified)[number];

const kept = (data: CheckData, resource: Identified): readonly ApiRecord[] => {
  const records: readonly ApiRecord[] = data[resource] ?? [];
  return records.filter(resource === 'product' ? isListed : (record) => !isDeleted(record));
};

const nameOf = (resource: Identified, record: ApiRecord): Named =>
  resource === 'contact'
    ? compact({ id: filled(record.id), name: contactName(record) })
    : named(record);

export const missingExternalIds: Check = {
  name: 'missing_external_ids',
  needs: identified,
  defaults: {},
  define: () =>
    'Companies, contacts, listed products and opportunities without an external identifier, which integrations find them by.',
  examine: (data) => {
    const all = identified.map((resource) => ({ resource, records: kept(data, resource) }));
    const found = all.flatMap(({ resource, records }) =>
      records
        .filter(({ externalIdentifier }) => !filled(externalIdentifier))
        .map((record) => foundWithout(resource, record)),
    );
    const examined = all.reduce((count, { records }) => count + records.length, 0);
    return { found, examined, of: 'records', unjudged: {} };
  },
};

const foundWithout = (resource: Identified, record: ApiRecord): Found => ({
  ...nameOf(resource, record),
  resource,
  reason: () => `${resource} without external identifier`,
});

export const contactsWithoutEmail: Check = {
  name: 'contacts_without_email',
  needs: ['contact'],
  defaults: {},
  define: () => 'Contacts whose e-mail is blank or has no @.',
  examine: ({ contact = [] }) => {
    const alive = contact.filter((each) => !isDeleted(each));
    const found = alive.filter(({ email }) => !email?.includes('@')).map(toFound);
    return { found, examined: alive.length, of: 'contacts', unjudged: {} };
  },
};

function toFound(contact: Contact): Found {
  const email = filled(contact.email);
  const phone = filled(contact.phone) ?? filled(contact.mobilePhone);
  const what = email ? `"${email}" is no address` : 'no e-mail';
  return {
    ...compact({
      id: filled(contact.id),
      name: contactName(contact),
      company: filled(contact.companyName),
    }),
    resource: 'contact',
    reason: () => (phone ? `${what}; phone ${phone}` : what),
  };
}
