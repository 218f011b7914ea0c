import { environmentName } from '../../config/settings.ts';
import type { NameOf } from '../../setting-names.ts';
import { visible } from '../../text/characters.ts';
import { version } from '../../version.ts';
import { wrap } from '../flags.ts';
import { optionName } from '../options.ts';

/** The result of one check. `skip`: nothing to check, or the check was not possible. */
export interface DoctorCheck {
  /** Stable id for programs. */
  id: string;
  title: string;
  status: keyof typeof statusWords;
  detail: string;
  remedy?: string | undefined;
}

/** What is known of one field, from the rows that were read. */
export interface FieldFound {
  /** As in the file of fields: `quote.items.price`. */
  field: string;
  /** Of so many rows. */
  of: number;
  /** Rows that have it in a known form. */
  read: number;
  form?: string;
  /** Rows in which it was not understood, and the first such value. */
  unread?: number;
  example?: string;
  /** The unknown field that it may be in. */
  mayBe?: string;
  /** For the file of fields; those that begin with # need an operator's knowledge. */
  lines?: string[];
}

export interface Report {
  version: string;
  ok: boolean;
  address: string;
  sandbox: boolean;
  checks: DoctorCheck[];
  /** All that the records read here have, or could have. */
  fields: FieldFound[];
  /** Requests sent; every one of them a GET. */
  requests: number;
  /** The grants to configure; absent if the key could read nothing. */
  grants: string | undefined;
}

/** The detail of a check that was left out because of an earlier one, or for lack of time or requests. */
export const notTried = 'not tried';

export const checkAs =
  (id: string, title: string) =>
  (status: DoctorCheck['status'], detail: string, remedy?: string): DoctorCheck => ({
    ...{ id, title, status, detail, remedy },
  });

/** Texts of the service in a sentence. */
export const quoted = (texts: readonly string[]): string =>
  texts.map((text) => JSON.stringify(visible(text))).join(', ');

const statusWords = { pass: 'PASS', warn: 'WARN', fail: 'FAIL', skip: '-' } as const;
const statusWidth = 6;

/** The report as text: one line per check, its remedy below. @param tenant its name in a tenants file */
export function table(
  { checks, fields, address, sandbox, requests, grants }: Report,
  tenant?: string,
): string {
  const heading = tenant === undefined ? '' : `Tenant ${tenant}: `;
  const nameOf = tenant === undefined ? environmentName : optionName;
  const tried = checks.filter(({ detail }) => detail !== notTried);
  const skipped = checks.length - tried.length;
  const titleWidth = Math.max(...checks.map(({ title }) => title.length)) + 2;
  const indent = ' '.repeat(statusWidth + titleWidth);
  const rows = tried.map(({ status, title, detail, remedy }) => {
    const start = statusWords[status].padEnd(statusWidth) + title.padEnd(titleWidth);
    const row = wrap(`${start}${detail}`, indent);
    return remedy === undefined ? row : `${row}\n${wrap(`${indent}→ ${remedy}`, `${indent}  `)}`;
  });
  const where = sandbox ? `the embedded tenant at ${address}` : address;
  const others = skipped === 0 ? '' : `\n${skipped} other checks were not tried.\n`;
  const requestCount = `${requests} request${requests === 1 ? ' was' : 's were'} sent; nothing was written.`;
  const grant =
    grants === undefined ? '' : `\n\nGrants for this key:\n${nameOf('grants')}=${grants}`;
  return `${heading}cpq-mcp ${version}, ${where}\n\n${rows.join('\n')}\n${others}${fieldTable(fields, nameOf)}\n${requestCount}${grant}\n`;
}

/** The fields that need a look, a count of the others, and lines for the file of fields. */
function fieldTable(fields: readonly FieldFound[], nameOf: NameOf<'fieldsFile'>): string {
  const odd = fields.filter(({ unread, mayBe }) => unread !== undefined || mayBe !== undefined);
  const asDocumented = fields.filter((field) => field.read > 0 && !odd.includes(field)).length;
  const rows = odd.map(({ field, of, unread, example = '', mayBe, read }) => {
    const such = `such as ${quoted([example])}`;
    return mayBe === undefined
      ? `  ${field}: not understood in ${unread} of ${of}, ${such}`
      : `  ${field}: in ${read} of ${of}; ${quoted([mayBe])} may be it, ${such}`;
  });
  const lines = odd.flatMap((field) => field.lines ?? []);
  const known = `${asDocumented} fields were read as documented.`;
  if (odd.length === 0) return fields.length === 0 ? '' : `\n${known}\n`;
  const proposed =
    lines.length === 0
      ? ''
      : `\nFor ${nameOf('fieldsFile')}, to be checked by somebody who knows the tenant:\n${lines.join('\n')}\n`;
  return `\n${known} Others:\n${rows.map((row) => wrap(row, '    ')).join('\n')}\n${proposed}`;
}
