import type { Resource } from '../service/records/records.ts';
import { type Grant, readGrant } from '../tenant/grants.ts';
import { isOneOf, keysOf } from '../values.ts';

const knownEvents = {
  company: ['created', 'updated'],
  contact: ['created', 'updated'],
  opportunity: ['created', 'status_changed', 'updated'],
  order: ['completed', 'created', 'updated'],
  product: ['created', 'updated'],
  quote: ['created', 'deleted', 'ordered', 'updated'],
} as const satisfies Record<string, readonly string[]>;

export type Subject = keyof typeof knownEvents;

export const subjects = keysOf(knownEvents);

export const isSubject = (name: string): name is Subject => Object.hasOwn(knownEvents, name);

export const isKnownEvent = (subject: string, event: string): boolean =>
  isSubject(subject) && isOneOf<string>(knownEvents[subject], event);

/** The collection of a subject. Orders have none; they belong to quotes. */
export const collectionOf = (subject: Subject): Exclude<Subject, 'order'> & Resource =>
  subject === 'order' ? 'quote' : subject;

export const grantFor = (subject: Subject): Grant => readGrant(collectionOf(subject));

const maxName = 60;

/** Converts `QuoteOrdered`, `quote.ordered` and `quote-ordered` to `quote_ordered`. */
export const normaliseEventName = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, maxName);

/** The documented spelling of an event, if it is a known one: `status_changed` for `statuschanged` or `statuschange`. */
export function eventFrom(subject: string, name: string): string {
  const compact = name.replaceAll('_', '');
  const spellings = [compact, `${compact}d`, `${compact}ed`];
  const sent: readonly string[] = isSubject(subject) ? knownEvents[subject] : [];
  return sent.find((event) => spellings.includes(event.replaceAll('_', ''))) ?? name;
}

/** Splits a name such as `quote_ordered` or `com_example_quote_ordered` into subject and event. */
export function pairFrom(name: string): { subject: Subject; event: string } | undefined {
  const [subject = '', ...rest] = name.split('_');
  const event = rest.join('_');
  if (event === '') return undefined;
  return isSubject(subject) ? { subject, event: eventFrom(subject, event) } : pairFrom(event);
}
