/** Checks of opportunities and contacts. */

import { type Day, dayOf } from '../../figures/days.ts';
import { dealValue, idleDays, lastChange } from '../../figures/deals.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import { currencyOfRecord } from '../../figures/money.ts';
import { byName, contactName, named, plural } from '../../figures/naming.ts';
import { isOpen } from '../../figures/outcome.ts';
import { forEachStep, type Steps } from '../../figures/steps.ts';
import { phoneDigits } from '../../names/phones.ts';
import { companyOf } from '../../names/references.ts';
import type { Contact, Opportunity } from '../../service/records/records.ts';
import { join, quote, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  examineEach,
  examineSharing,
  isKept,
  type Judgement,
  type RawFinding,
} from './check.ts';

const opportunityCheck = {
  needs: ['opportunity'],
  unit: 'opportunity',
  of: 'open opportunities',
} as const;

const stakeDefinition = 'At stake: one-time + monthly × value months (12 where none are given).';

export const stalledOpportunities: Check = {
  ...opportunityCheck,
  defaults: { days: 30 },
  define: ({ days, today }) =>
    `Open opportunities whose stage and other fields last changed ${days} or more days before ${today}. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(opportunity, context, (each) => {
      const idle = idleDays(each, context.today);
      if (idle === undefined) return 'no date of any change';
      if (idle < context.days) return undefined;
      return () =>
        wording`unchanged for ${plural(idle, 'day')}, since ${trusted(lastChange(each) ?? '')}`;
    }),
};

export const missingCloseDates: Check = {
  ...opportunityCheck,
  define: () =>
    `Open opportunities without an expected close date that can be read. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(opportunity, context, ({ expectedCloseDate }) => {
      if (dayOf(expectedCloseDate)) return undefined;
      const written = nonBlank(expectedCloseDate);
      return () =>
        written ? wording`close date ${quote(written)} is no date` : wording`no close date`;
    }),
};

export const opportunitiesWithoutQuote: Check = {
  ...opportunityCheck,
  needs: ['opportunity', 'quote'],
  define: () =>
    `Open opportunities without a quote; deleted quotes do not count, answered and expired ones do. ${stakeDefinition}`,
  *examine({ opportunity, quote: quotes = [] }, context) {
    const quoted = new Set<string>();
    yield* forEachStep(quotes, (each) => {
      if (isKept(each) && each.opportunity?.id) quoted.add(each.opportunity.id);
    });
    return yield* examineOpen(opportunity, context, ({ id, expectedCloseDate }) => {
      if (id !== undefined && quoted.has(id)) return undefined;
      const closes = dayOf(expectedCloseDate);
      return () => (closes ? wording`no quote; closes ${trusted(closes)}` : wording`no quote`);
    });
  },
};

/** What a deal should refer to, and whether it does: a contact may have a name without an id. */
const missingIn = (deal: Opportunity) =>
  (['contact', 'company', 'owner', 'category'] as const).filter((field) => {
    const ref = deal[field];
    return !ref || !(nonBlank(ref.id) ?? contactName(ref));
  });

export const incompleteOpportunities: Check = {
  ...opportunityCheck,
  define: () =>
    `Open opportunities without contact, company, owner or category. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(
      opportunity,
      context,
      (deal) => {
        const missing = missingIn(deal).map((field) => wording`no ${field}`);
        return missing.length > 0 ? () => join(missing, ', ') : undefined;
      },
      (deal) =>
        Object.fromEntries(missingIn(deal).map((field) => [`missing ${field}`, `no ${field}`])),
    ),
};

/** `reasonOf` says why an opportunity is a finding, or cannot be checked. */
function examineOpen(
  opportunities: readonly Opportunity[] | undefined,
  { currencyOf, today }: CheckContext,
  reasonOf: (opportunity: Opportunity) => Judgement<() => Wording>,
  kindsOf: (opportunity: Opportunity) => RawFinding['kinds'] = () => ({}),
): Steps<CheckResult> {
  const judge = (opportunity: Opportunity): Judgement => {
    const reason = reasonOf(opportunity);
    if (typeof reason !== 'function') return reason;
    const kinds = kindsOf(opportunity);
    return {
      ...named(opportunity),
      ...compact({ status: nonBlank(opportunity.pipelineStage?.name) }),
      company: companyOf(opportunity),
      owner: opportunity.owner,
      kinds: { closing: closingOf(opportunity, today), ...kinds },
      atStake: dealValue(opportunity),
      currency: currencyOfRecord(opportunity, currencyOf),
      reason,
    };
  };
  return examineEach(opportunities, judge, isOpen);
}

function closingOf({ expectedCloseDate }: Opportunity, today: Day): string {
  const closes = dayOf(expectedCloseDate);
  if (!closes) return 'no close date';
  return closes < today ? 'overdue' : 'not overdue';
}

export const duplicateContacts: Check = {
  needs: ['contact'],
  unit: 'duplicate',
  of: 'contacts',
  parts: 'contacts',
  define: () =>
    'E-mail addresses, whatever the letter case, and phone numbers, compared by their digits without extension and leading zeros, that two or more contacts have.',
  examine: ({ contact }) => examineSharing(contact, addressesOf, sharedAddress, isKept),
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
  const companies = new Set(sharing.map(companyOf).flatMap(({ id, name }) => id ?? name ?? []));
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
