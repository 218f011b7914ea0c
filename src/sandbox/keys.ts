import { createHash } from 'node:crypto';

/** A grant of a key, such as `company:read` or `opportunity:write`. */
export type Permission = `${string}:read` | `${string}:write`;
export type Scope = 'all' | 'read' | 'limited';

const LIMITED = ['company', 'contact', 'opportunity'];
const SUBJECTS = [
  ...LIMITED,
  'product',
  'quote',
  'quote-template',
  'quote-widget-template',
  'pricing-book',
  'category',
  'quote-discount-group',
  'contract',
];
const reads = (subjects: string[]) => subjects.map((subject): Permission => `${subject}:read`);
const writes = (subjects: string[]) => subjects.map((subject): Permission => `${subject}:write`);

export const SCOPES: Record<Scope, Permission[]> = {
  all: [...reads(SUBJECTS), ...writes([...LIMITED, 'product', 'quote'])],
  read: reads(SUBJECTS),
  limited: reads(LIMITED),
};

/** A key of 40 letters and digits that looks random but is derived from the given words. */
export function deriveKey(...words: (string | number)[]): string {
  const digest = createHash('sha512').update(words.join(':')).digest('base64');
  return digest.replace(/[^A-Za-z0-9]/g, '').slice(0, 40);
}
