// Generates docs/compatibility.md from the variations of the test service; the tests assert each row.
import {
  axes,
  failures,
  rules,
  strangers,
  type Variation,
} from '../test/support/compatibility/variations.ts';
import { generated } from './generated.ts';

const intro = `# Compatibility

What the server expects of the service and tolerates. Made from \`test/support/compatibility\` by \`npm run generate:compatibility\`; do not edit.

The server learns from answers how a service counts and filters. Where \`from\` does not count records from 0, it reads what
one page of 1,000 holds, unless \`CPQ_PAGE_PARAM\` names a parameter that does. \`cpq-mcp doctor\`
([how](hosting.md#requirements)) shows which rows apply to your tenant.

Where no record has a field that figures rest on, or some have it in a form or word that is not known, answers begin with
“Incomplete: the company of 96 opportunities could not be read”; where more than a tenth lack a value that sums take, with
“Not known: 40 of 96 opportunities have no onetimeRevenue”. A field that is 0 in every record counts as absent. Names of fields
may differ in case, \`_\` and \`-\`. Where only some records have another form, those are counted: a field of another name that
others lack, references that lead nowhere. Tests try 600 forms of replies, pairs, and each field reshaped.

## Expected

| what | as documented |
| --- | --- |
| address | \`{address}/public-api\`, JSON, the header \`api-key\` |
| list | \`{"results": […], "total": 330}\` |
| page | \`size\` records from the offset \`from\`, 0-based |
| references | nested: \`"company": {"id": "…", "name": "…"}\` |
| money, dates | numbers; ISO 8601 |
| deleted records | marked by a time in \`deletedAt\` or \`deleted\` |
| rate limit | 500 requests in ten minutes, \`X-RateLimit-Remaining\` in every reply |

## Fields elsewhere

\`CPQ_FIELDS_FILE\` has a line for each field that is not as documented; \`cpq-mcp doctor\` names the fields, and proposes lines.

\`\`\`
opportunity.closedAt = closeDate         # another name
opportunity.company.id = account.key     # inside another; in a list: companies.0.id
quote.items.term = billingPeriod         # of every item; also pricing-book.products.price
won = statusId in [4, 7]                 # also lost, open
quote.sent = status in [versendet]       # also draft, approved, declined, expired
product.monthly = term in [monatlich]    # of quote.items too; also yearly, one-time
contact.deleted = active in [false]      # also listed
\`\`\`

A line that names a whole field is then the only place from which it is read; with another line, the field's own value
counts where the line does not apply. Fields are written by their documented names. An unknown field stops the start;
answers and \`doctor\` name lines whose right side no record has.

## Tolerated

Of what follows every answer is the same as for a service as documented, if nothing else is said. *Part*: answers cover what can be read, and say so first, or
name what the service did otherwise. *Error*: the call fails, and says why.
`;

const titles: Record<string, string> = {
  references: 'References',
  counts: 'Lists and counts',
  sizes: 'Page size',
  offsets: 'Offset',
  searches: 'Filter, text and order',
  rows: 'Records',
};

/** What may end with an error, in words. */
const failing: readonly [RegExp, string][] = [
  [/^filter$/, 'lists with `filters`'],
  [/^query$/, 'lists with `query`'],
  [/^sort$/, 'lists with `sort`'],
  [/^upsert of a new one$/, 'creating an opportunity'],
  [/^upsert of the company$/, 'changing the company of an opportunity'],
  [/^upsert of the stage$/, 'changing the stage of an opportunity by its name'],
  [/^upsert( by external id)?$/, 'changing an opportunity'],
];

function errorsIn(probes: readonly string[]): string {
  const all = failing.filter(([pattern]) => probes.some((probe) => pattern.test(probe)));
  const texts = all.map(([, text]) => text);
  // Whatever is changed includes the company and the stage.
  const isAny = texts.includes('changing an opportunity');
  return texts.filter((text) => !isAny || !text.startsWith('changing the')).join(', ');
}

/** Empty where every answer is as for the documented service. */
function outcome({ mayFail = [], partial = false }: Variation): string {
  if (mayFail === 'every') return 'Error';
  const errors = errorsIn(mayFail);
  const parts = [partial && 'Part', errors !== '' && `Error: ${errors}`].filter(Boolean);
  return parts.join('; ');
}

/** Two variations at once, each of which has a line of its own. */
const isPair = ({ name }: Variation): boolean => /, (clamped to|short pages)/.test(name);

function section(title: string, variations: readonly Variation[]): string {
  const rows = variations.filter((it) => !isPair(it));
  const lines = rows.map((it) => {
    const result = outcome(it);
    return `- **${it.name}**: ${it.does}${result === '' ? '' : ` *${result}*`}`;
  });
  return `\n### ${title}\n\n${lines.join('\n')}\n`;
}

const sections = [
  ...Object.entries(axes).map(([name, all]) => section(titles[name] ?? name, all)),
  section('Fields that cannot be expected', strangers),
  section('Errors and limits', failures),
  section('Rules for writes', rules),
];

const limits = `
## Limits

Not read, by design: a redirect to another host (the key would go along); JSON:API, whose references are apart; a list in a
list, and records by id in place of a list, which an error may look like; one record a line and a body that is cut off,
whose end cannot be told. A service that hides records and sends no count (*no count*, *bare arrays*, *counts the page*)
may have a short list called whole. Not noticed: a total above 10,000 that is wrong, in a list before all its records
were read; in a brief of one company, records that have another id of it and no name.
`;

await generated(
  'docs/compatibility.md',
  `${intro}${sections.join('')}${limits}`,
  'generate:compatibility',
);
