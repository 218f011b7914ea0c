import { normaliseName } from '../figures/naming.ts';
import type { Opportunity } from '../service/records/records.ts';
import { trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { keysOf } from '../values.ts';
import { type FieldChange, nextValue } from './fields.ts';

/** A rule of the service's web interface. Whether the API has it too is not documented, and differs by tenant. */
export type ServiceRule = 'status' | 'locked' | 'computed' | 'title' | 'category';

const editableStatuses = ['active', 'not ready to buy'];
/** No warning: if every question had it, nobody would read it. */
const neutralStatus = 'open';
const maxTitleLength = 128;

/** The rules by which the service may refuse these changes, or store something else. */
export function rulesConcerning(
  record: Opportunity | undefined,
  changes: readonly FieldChange[],
): ServiceRule[] {
  const replaces = (name: string) =>
    changes.some(({ field, from }) => field === name && from !== undefined);
  const status = normaliseName(record?.statusId);
  const concerns: Record<ServiceRule, boolean> = {
    status: !['', neutralStatus, ...editableStatuses].includes(status),
    locked: replaces('company') || replaces('contact'),
    computed: record !== undefined && (replaces('onetime_revenue') || replaces('monthly_revenue')),
    title: String(nextValue(changes, 'name') ?? '').length > maxTitleLength,
    category: record === undefined && nextValue(changes, 'category') === undefined,
  };
  return keysOf(concerns).filter((rule) => concerns[rule]);
}

/** What the web interface does, as a sentence. */
export const describeRule = (rule: ServiceRule): Wording => descriptions[rule];

const descriptions: Record<ServiceRule, Wording> = {
  status: wording`Only opportunities in the status Active or Not ready to buy can be changed.`,
  locked: wording`Company and contact are locked once a quote was sent.`,
  computed: wording`Some tenants compute revenue from the quoted items.`,
  title: wording`A name may have at most ${trusted(String(maxTitleLength))} characters.`,
  category: wording`Some tenants require a category.`,
};
