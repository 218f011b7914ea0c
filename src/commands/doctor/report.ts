import { environmentName } from '../../config.ts';
import { version } from '../../version.ts';
import { wrap } from '../wrap.ts';
import { type CheckStatus, type DoctorCheck, notTried } from './check.ts';

export interface Report {
  version: string;
  /** No check failed. */
  ok: boolean;
  address: string;
  sandbox: boolean;
  checks: DoctorCheck[];
  /** Requests sent; every one of them a GET. */
  requests: number;
  /** The grants to configure; absent if the key could read nothing. */
  grants?: string;
}

const statusWords: Readonly<Record<CheckStatus, string>> = {
  pass: 'PASS',
  warn: 'WARN',
  fail: 'FAIL',
  skip: '-',
};
const statusWidth = 6;

/** The report as text: one line per check, its remedy below. */
export function table({ checks, address, sandbox, requests, grants }: Report): string {
  const titleWidth = Math.max(...checks.map(({ title }) => title.length)) + 2;
  const indent = ' '.repeat(statusWidth + titleWidth);
  const skipped = checks.filter(({ detail }) => detail === notTried).length;
  const rows = checks
    .filter(({ detail }) => detail !== notTried)
    .map(({ status, title, detail, remedy }) => {
      const row = wrap(
        `${statusWords[status].padEnd(statusWidth)}${title.padEnd(titleWidth)}${detail}`,
        indent,
      );
      return remedy === undefined ? row : `${row}\n${wrap(`${indent}→ ${remedy}`, `${indent}  `)}`;
    });
  const where = sandbox ? `the embedded tenant at ${address}` : address;
  const others = skipped === 0 ? '' : `\n${skipped} other checks were not tried.\n`;
  const requestCount = `${requests} request${requests === 1 ? ' was' : 's were'} sent; nothing was written.`;
  const grant =
    grants === undefined ? '' : `\n\nGrants for this key:\n${environmentName('grants')}=${grants}`;
  return `cpq-mcp ${version}, ${where}\n\n${rows.join('\n')}\n${others}\n${requestCount}${grant}\n`;
}
