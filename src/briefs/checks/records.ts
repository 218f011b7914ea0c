/** Checks of external identifiers and contact data. */

import { compact, contactName, type Named, named, nonBlank } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { filterSteps, forEachStep } from '../../figures/steps.ts';
import { companyOf } from '../../names/company-reference.ts';
import type { ApiRecord, Contact } from '../../service/records/records.ts';
import { quote, wording } from '../../text/untrusted-text.ts';
import { type Check, examineEach, ownerOf, type RawFinding } from './check.ts';
import { isListed } from './products.ts';

/** The resources that are read or written by an external identifier. */
const identifiedResources = ['company', 'contact', 'product', 'opportunity'] as const;
type IdentifiedResource = (typeof identifiedResources)[number];

const nameOf = (resource: IdentifiedResource, record: ApiRecord): Named =>
  resource === 'contact'
    ? compact({ id: nonBlank(record.id), name: contactName(record) })
    : named(record);

export const missingExternalIds: Check = {
  needs: identifiedResources,
  about: identifiedResources,
  unit: 'record',
  define: () =>
    'Companies, contacts, listed products and opportunities without an external identifier, which integrations find them by.',
  *examine(data) {
    const findings: RawFinding[] = [];
    let examined = 0;
    for (const resource of identifiedResources) {
      const all: readonly ApiRecord[] = data[resource] ?? [];
      // Only products can be unlisted.
      const records = yield* filterSteps(all, isListed);
      examined += records.length;
      yield* forEachStep(records, (record) => {
        if (!nonBlank(record.externalIdentifier)) findings.push(missingIdFinding(resource, record));
      });
    }
    return { findings, examined, of: 'records', notChecked: {} };
  },
};

const missingIdFinding = (resource: IdentifiedResource, record: ApiRecord): RawFinding => ({
  ...nameOf(resource, record),
  ...compact({ company: companyOf(record).name }),
  resource,
  owner: ownerOf(record),
  kinds: { record: resource },
  reason: () => wording`${resource} without external identifier`,
});

export const contactsWithoutEmail: Check = {
  needs: ['contact'],
  about: ['contact'],
  unit: 'contact',
  define: () => 'Contacts whose e-mail is blank or has no @.',
  *examine({ contact = [] }) {
    const current = yield* filterSteps(contact, (each) => !isDeleted(each));
    return yield* examineEach(current, 'contacts', (each) =>
      each.email?.includes('@') ? undefined : missingEmailFinding(each),
    );
  },
};

function missingEmailFinding(contact: Contact): RawFinding {
  const email = nonBlank(contact.email);
  const phone = nonBlank(contact.phone) ?? nonBlank(contact.mobilePhone);
  const what = email ? wording`${quote(email)} is no address` : wording`no e-mail`;
  return {
    ...compact({
      id: nonBlank(contact.id),
      name: contactName(contact),
      company: nonBlank(contact.companyName),
    }),
    resource: 'contact',
    reason: () => (phone ? wording`${what}; phone ${quote(phone)}` : what),
  };
}
