import * as z from 'zod';
import { type QuoteBrief, quoteBrief } from '../src/briefs/quote/quote.ts';
import { restsOn } from '../src/briefs/rests-on.ts';
import { currenciesOf } from '../src/figures/money.ts';
import { hasUnknownItems } from '../src/figures/quote-totals.ts';
import type { PartOf } from '../src/reading/parts.ts';
import type { ApiRecord, Ref, Resource } from '../src/service/records/records.ts';
import { danglingReferences, fieldGaps, gapsAbout } from '../src/tenant/field-gaps.ts';
import { readCollections, readIfExists, readOptional } from '../src/tenant/read-collections.ts';
import { identifier, quote, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import { toCoverage, today } from '../src/tool-kit/answers.ts';
import { defineTool } from '../src/tool-kit/define-tool.ts';
import { deletedWords, linkTo, recordOrQuestion } from '../src/tool-kit/one-record.ts';
import { answerWithRows } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

export const briefQuote = defineTool({
  name: 'cpq_brief_quote',
  title: 'Brief on a quote',
  description:
    'One quote: lines, totals per term, margin, terms, validity, opportunity, and a pre-flight check before a person sends it.',
  toolset: 'briefs',
  view: 'quote',
  needs: ['quote:read'],
  input: z.strictObject({
    quote: schemas.nameOfRecord.describe('Id or number'),
    discount_limit: z.number().min(0).max(100).optional().describe('Percent; default 20'),
    lines: z.int().min(0).max(200).default(25).describe('Lines to show'),
  }),
  output: { coverage: schemas.coverage.optional() },
  async run(tenant, { quote: text, discount_limit, lines }, call) {
    const { record: found, question } = await recordOrQuestion(tenant, 'quote', text, call, true);
    if (question) return question;
    // The lists of some services leave the items out.
    const { id } = hasUnknownItems(found) ? found : {};
    const read = (id && (await readIfExists(tenant, 'quote', 'id', id, call))) || found;
    const related = ['company', 'opportunity', 'pricing_book', 'product'] as const;
    const products = read.items?.flatMap(({ product }) => product?.id ?? []) ?? [];
    const parts: Partial<Record<Resource, PartOf>> = {
      quote: { only: [read] },
      company: partMeant(read.company),
      opportunity: partMeant(read.opportunity),
      product: { ids: products },
    };
    const [{ records, coverage, omitted }, contact] = await Promise.all([
      readCollections(tenant, ['quote'], related, call, restsOn.quote, (each) => parts[each]),
      // One record: a tenant may have far more contacts than quotes.
      readOptional(tenant, 'contact', read.contact?.id, call),
    ]);
    const [record = read] = records.quote ?? [];
    const notes = [...omitted, ...contact.omitted];
    // That one quote has no such field may mean nothing; that none has it, or others in another field, does.
    const cached = { records: tenant.cached('quote') ?? [] };
    const held = await fieldGaps(tenant, 'quote', cached, restsOn.quote.quote);
    // Those that it refers to were asked for.
    const dangling = danglingReferences(tenant, { ...records, quote: [read] }, () => 1);
    const subject = {
      quote: record,
      company: namedBy(record.company, records.company),
      contact: contact.record,
      opportunity: namedBy(record.opportunity, records.opportunity),
      books: records.pricing_book,
      products: records.product,
    };
    const { company, opportunity } = subject;
    const about = {
      company: company ? [company] : [],
      opportunity: opportunity ? [opportunity] : [],
      product: records.product?.filter(({ id = '' }) => products.includes(id)) ?? [],
    };
    const gaps = [
      ...gapsAbout(about, coverage.fields),
      ...held.filter(({ mayBe, example, rows, of }) => mayBe ?? (!example && rows === of)),
      ...dangling.filter(({ record }) => record.startsWith('quote')),
    ];
    const options = {
      today: today(),
      currencyOf: currenciesOf(records.company ?? []),
      discountLimit: discount_limit ?? 20,
    };
    return answerWithRows(Math.min(lines, record.items?.length ?? 0), (maxLines) => {
      const brief = quoteBrief(subject, { ...options, maxLines });
      return {
        summary: quoteSummary(brief),
        data: {
          ...linkTo(tenant.site, 'quote', record.id),
          ...brief,
          coverage: toCoverage({ ...coverage, fields: gaps }),
        },
        notes,
      };
    });
  },
});

/** At least the record that is referred to. */
const partMeant = (ref: Ref | undefined): PartOf =>
  ref?.id === undefined && ref?.name !== undefined
    ? { about: ref.name }
    : { ids: ref?.id === undefined ? [] : [ref.id] };

/** A record without an id is not the one that a reference without an id is to. */
const namedBy = <R extends ApiRecord>(
  ref: Ref | undefined,
  records: readonly R[] | undefined,
): R | undefined => (ref?.id === undefined ? undefined : records?.find(({ id }) => id === ref.id));

function quoteSummary(brief: QuoteBrief): Wording {
  const { number, name, id, company, deleted, totals } = brief;
  const known = number ?? name ?? id;
  const which = known !== undefined && wording` ${identifier(known)}`;
  const lines = totals.items === 0 && ', without lines';
  const whom = company?.name !== undefined && wording` for ${quote(company.name)}`;
  return wording`${deletedWords(deleted)}Quote${which}${whom}${state(brief)}${lines}. ${verdict(brief)}`;
}

/** The status; of a quote at the customer also since when, and until when it can be accepted. */
function state({ status, statusCategory, acceptance, sent, expires }: QuoteBrief): Wording {
  const known = status ?? (statusCategory === 'other' ? undefined : statusCategory);
  const isSent = statusCategory === 'sent';
  const named = known !== undefined && wording`, ${identifier(known)}`;
  const since = isSent && sent !== undefined && wording` ${trusted(sent)}`;
  const ending = acceptance === 'past expiry' ? 'expired' : 'expires';
  const until = isSent && expires !== undefined && wording`, ${ending} ${trusted(expires)}`;
  return wording`${named}${since}${until}`;
}

/** Only a quote that can still be sent has next steps. */
function verdict({ statusCategory, acceptance, preflight }: QuoteBrief): Wording {
  const { total, stops, checks } = preflight;
  const found = total === 0 ? 'none' : wording`${stops} serious, ${checks} to review`;
  if (statusCategory === 'deleted') return wording`It cannot be sent.`;
  if (acceptance === 'past expiry')
    return wording`It can no longer be accepted; findings in the quote: ${found}.`;
  if (statusCategory === 'approved' || statusCategory === 'declined')
    return wording`The customer has answered; findings in the quote: ${found}.`;
  const then =
    statusCategory === 'sent' ? 'it was sent' : 'a person should review it before it is sent';
  return wording`Findings of the pre-flight check: ${found}; ${then}.`;
}
