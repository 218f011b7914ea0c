import type { Resource } from '../../api/records.ts';
import { type Grant, readGrant } from '../grants.ts';

/** What the service sends events about, and which. */
export const knownEvents = {
  company: ['created', 'updated'],
  contact: ['created', 'updated'],
  opportunity: ['created', 'status_changed', 'updated'],
  order: ['completed', 'created', 'updated'],
  product: ['created', 'updated'],
  quote: ['created', 'deleted', 'ordered', 'updated'],
} as const satisfies Record<string, readonly string[]>;

export type Subject = keyof typeof knownEvents;

export const subjects = Object.keys(knownEvents) as Subject[];
export const eventNames = [...new Set(Object.values(knownEvents).flat())];

export const isSubject = (name: string): name is Subject => Object.hasOwn(knownEvents, name);

export const isKnownEvent = (subject: string, event: string): boolean =>
  isSubject(subject) && (knownEvents[subject] as readonly string[]).includes(event);

/** The collection that holds what an event is about; an order is what became of a quote. */
export const collectionOf = (subject: Subject): Exclude<Subject, 'order'> & Resource =>
  subject === 'order' ? 'quote' : subject;

/** Who may see an event; orders have no grant of their own. */
export const grantFor = (subject: Subject): Grant => readGrant(collectionOf(subject));

const maxName = 60;

/** `QuoteOrdered`, `quote.ordered` and `quote-ordered` alike: words of small letters and digits. */
export const normaliseEventName = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, maxName);

const plurals: Readonly<Record<string, Subject>> = {
  companies: 'company',
  opportunities: 'opportunity',
};

/** The subject that a word names, in the singular or plural. */
export function subjectFrom(word: string): Subject | undefined {
  if (isSubject(word)) return word;
  const singular = word.replace(/s$/, '');
  return isSubject(singular) ? singular : plurals[word];
}

/** The event as the service calls it, where it is one that it sends: `statuschanged` is `status_changed`. */
export function eventFrom(subject: string, name: string): string {
  const compact = name.replaceAll('_', '');
  const sent: readonly string[] = isSubject(subject) ? knownEvents[subject] : [];
  return sent.find((event) => event.replaceAll('_', '') === compact) ?? name;
}

/** `quote_ordered`: subject and event in one name. */
export function pairFrom(name: string): { subject: Subject; event: string } | undefined {
  const at = name.indexOf('_');
  const subject = at > 0 ? subjectFrom(name.slice(0, at)) : undefined;
  return subject && { subject, event: eventFrom(subject, name.slice(at + 1)) };
}
