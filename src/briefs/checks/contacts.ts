/** Checks of contacts. */

import { byName, compact, contactName, nonBlank } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { phoneDigits } from '../../names/phones.ts';
import { companyOf } from '../../names/references.ts';
import type { Contact } from '../../service/records/records.ts';
import { quote, wording } from '../../text/untrusted-text.ts';
import { type Check, examineSharing, type RawFinding } from './check.ts';

export const duplicateContacts: Check = {
  needs: ['contact'],
  about: 'contact',
  unit: 'duplicate',
  of: 'contacts',
  parts: 'contacts',
  define: () =>
    'E-mail addresses, whatever the letter case, and phone numbers, compared by their digits without extension and leading zeros, that two or more contacts have.',
  examine: ({ contact }) =>
    examineSharing(contact, addressesOf, sharedAddress, (each) => !isDeleted(each)),
};

/** `e-mail a@b.example`, `phone 41446680011`: each once, though a contact may have a number in two fields. */
function addressesOf({ email, phone, mobilePhone }: Contact) {
  const address = nonBlank(email)?.toLowerCase() ?? '';
  const phones = [phone, mobilePhone].flatMap((number) => phoneDigits(number ?? '') ?? []);
  const keys = new Set([
    ...(address.includes('@') ? [`e-mail ${address}`] : []),
    ...phones.map((digits) => `phone ${digits}`),
  ]);
  return keys.size === 0 ? { reason: 'no e-mail and no phone' } : keys;
}

/** The finding is about the first contact by name; the others are its related records. */
function sharedAddress(sharing: readonly Contact[], key: string): RawFinding {
  const space = key.indexOf(' ');
  const shared = key.slice(0, space);
  const people = sharing.map((contact) => ({ ...contact, ...nameOf(contact) })).sort(byName);
  const [first = {}, ...others] = people;
  const companies = new Set(sharing.map((each) => companyOf(each).id ?? companyOf(each).name));
  return {
    ...nameOf(first),
    company: companyOf(first),
    kinds: {
      shared: `same ${shared}`,
      companies: companies.size > 1 ? 'several companies' : 'one company',
    },
    parts: sharing.length,
    currency: '',
    reason: () => wording`${sharing.length} contacts with ${quote(key.slice(space + 1))}`,
    related: others.map(nameOf),
  };
}

const nameOf = (contact: Contact) => compact({ id: contact.id, name: contactName(contact) });
