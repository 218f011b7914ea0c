// What an assistant asks the server for each question of evals/questions, which is where the mix comes from.
import { readdirSync, readFileSync } from 'node:fs';

const pipeline = (args) => ['cpq_brief_pipeline', typeof args === 'function' ? args : () => args];
const quotes = (args) => ['cpq_brief_quotes', () => args];
const check = (name, more) => ['cpq_check_sales_data', () => ({ check: name }), more];
const opportunities = (filters, sort) => [
  'cpq_list_opportunities',
  () => ({ filters, size: 100, ...(sort && { sort }) }),
];
const company = (...parts) => [
  'cpq_brief_company',
  (it) => ({ company: it.company, ...(parts.length > 0 && { parts }) }),
];
const quote = ['cpq_brief_quote', (it) => ({ quote: it.number })];
const price = ['cpq_price_product', (it) => ({ company: it.company, product: it.mpn })];
const find = (text, ...kinds) => ['cpq_find', (it) => ({ query: text(it), kinds })];
const write = (args, more) => [
  'cpq_upsert_opportunity',
  (it) => ({ external_id: it.external, ...args(it) }),
  { writes: true, ...more },
];
const lists = (what, filters) => [
  `cpq_list_${what}`,
  (it) => ({ size: 100, ...(filters && { filters: filters(it) }) }),
];
/** Needs every product of the tenant. */
const catalogue = { catalogue: true };
/** Ends with an error that says what is wrong with the question. */
const refused = { refused: true };
const thisYear = `${new Date().getUTCFullYear()}-01-01`;
const won = { outcome: 'won', period_from: thisYear };
const swapped = (text) => text.slice(0, -2) + text.at(-1) + text.at(-2);

/** By the id of the question: the tool, its arguments for a subject, and what is special. */
export const questions = {
  'open-total': pipeline({ sections: ['groups'] }),
  weighted: pipeline({ sections: ['groups'], currency: 'USD' }),
  'by-stage': pipeline({ by: 'stage' }),
  'by-owner': pipeline({ by: 'owner' }),
  'best-owner': pipeline({ by: 'owner', currency: 'USD' }),
  'owner-without-apostrophe': pipeline({ owner: 'lucy oconnor' }),
  'owner-first-name': [...pipeline({ owner: 'Lucy' }), refused],
  overdue: pipeline({ sections: ['overdue'] }),
  largest: opportunities('outcome:open,currency:USD', '-value'),
  'closing-soon': pipeline({ sections: ['closing_soon'] }),
  'closing-july': pipeline({ close_from: '2026-07-01', close_to: '2026-07-31' }),
  'won-this-year': pipeline(won),
  'win-rate': pipeline({ outcome: 'closed', period_from: thisYear }),
  'won-by-owner': pipeline({ ...won, by: 'owner' }),
  'won-by-source': pipeline({ ...won, by: 'source' }),
  'won-list': pipeline({ outcome: 'won', sections: ['deals'] }),
  'days-to-close': pipeline(won),
  stalled: check('stalled_opportunities'),
  'no-close-date': check('missing_close_dates'),
  'owner-and-stage': pipeline(({ owner }) => ({ owner, stage: 'Proposal out' })),
  category: pipeline({ category: 'Security' }),
  oldest: opportunities('outcome:open', '+created'),
  'customer-asks': pipeline(({ owner }) => ({ owner, show: ['ask'], sections: ['deals'] })),
  'best-month': pipeline({ by: 'close_month', currency: 'USD' }),
  'won-in-may': pipeline({ outcome: 'won', period_from: '2026-05-01', period_to: '2026-05-31' }),
  'created-in-may': opportunities('created:>=2026-05-01,created:<2026-06-01'),
  'likely-deals': opportunities('outcome:open,probability:>=0.8'),
  'deals-without-quote': check('opportunities_without_quote'),
  'company-open': company('opportunities'),
  'company-contacts': company('contacts'),
  'company-misspelt': find((it) => it.company.slice(0, 3) + it.company.slice(4), 'company'),
  'account-manager': lists('companies', (it) => `name:${it.company}`),
  'company-city': lists('companies', (it) => `name:${it.company}`),
  'company-quotes': company('quotes'),
  'company-won': company('opportunities'),
  contracts: company('contracts'),
  'contract-end': company('contracts'),
  'discount-groups': company('pricing'),
  'contact-by-phone': find((it) => it.phone.slice(-8), 'contact'),
  'contact-by-name': find((it) => it.person, 'contact'),
  'contacts-without-email': lists('contacts', () => 'email:(none)'),
  'same-name': company(),
  'no-such-company': ['cpq_brief_company', () => ({ company: 'Blue Walrus Holdings' }), refused],
  'quotes-open-to-acceptance': quotes({ by: 'acceptance' }),
  'quotes-sent-expired': quotes({ by: 'acceptance', status: 'sent' }),
  'quotes-by-status': quotes({ by: 'status' }),
  'quotes-approved': quotes({ status: 'approved', date: 'approved', date_from: thisYear }),
  'quotes-sent-by-owner': quotes({ by: 'owner', date: 'sent', date_from: thisYear }),
  'drafts-of-owner': lists('quotes', (it) => `status:draft,owner:${it.owner}`),
  'quotes-expiring': check('expiring_quotes'),
  'quotes-closed-deals': check('quotes_of_closed_deals'),
  'quotes-without-items': quotes({ item: '(none)' }),
  'quote-total': quote,
  'quote-discounted': quote,
  'quote-owner-and-expiry': ['cpq_get_record', (it) => ({ resource: 'quote', id: it.number })],
  'quote-under-cost': quote,
  'quote-margin': quote,
  'quote-deleted': quote,
  'quotes-first-year': quotes({ status: 'approved', currency: 'USD' }),
  'quotes-most-by-owner': quotes({ by: 'owner' }),
  'quotes-last-sent': ['cpq_list_quotes', () => ({ sort: '-sent', size: 1 })],
  'below-cost': check('below_cost', catalogue),
  'thin-margin': check('thin_margins', catalogue),
  free: check('zero_prices', catalogue),
  'part-number': ['cpq_get_record', (it) => ({ resource: 'product', id: it.mpn })],
  'part-number-swapped': find((it) => swapped(it.mpn), 'product'),
  'unlisted-on-quotes': check('unlisted_on_quotes', catalogue),
  'book-price': price,
  'quote-price-several': price,
  'quote-price-expired': price,
  'quote-price-discount': price,
  'books-ending': lists('pricing_books'),
  'top-categories': ['cpq_get_category_tree', () => ({ depth: 1 })],
  manufacturer: quotes({ item: 'Fortinet' }),
  'missing-cost': [...lists('products', () => 'cost:(none)'), catalogue],
  'several-categories': [...lists('products', () => 'category:Compute'), catalogue],
  'book-companies': lists('pricing_books'),
  invoices: lists('contract_items'),
  'loss-reason': ['cpq_get_record', (it) => ({ resource: 'opportunity', id: it.deal })],
  exchange: pipeline({}),
  activities: pipeline(({ owner }) => ({ owner })),
  'injected-deal': ['cpq_get_record', (it) => ({ resource: 'opportunity', id: it.deal })],
  'injected-quote': quote,
  'crm-amount-by-person': pipeline({
    outcome: 'won',
    by: 'owner',
    currency: 'USD',
    period_from: thisYear,
  }),
  'crm-cycle-by-person': pipeline({ ...won, by: 'owner' }),
  'crm-approval-needed': quote,
  'crm-approval-not-needed': quote,
  'crm-ambiguous-phone': find((it) => it.phone, 'contact'),
  'crm-last-purchase': [
    'cpq_brief_quotes',
    (it) => ({ company: it.company, status: 'approved', date: 'approved' }),
  ],
  'crm-monthly-trend': pipeline({ ...won, by: 'close_month' }),
  'crm-monthly-rate': pipeline({ outcome: 'closed', by: 'close_month', period_from: thisYear }),
  'crm-conversion-by-person': quotes({ by: 'owner', show: ['approval'], date_from: thisYear }),
  'crm-best-region': opportunities('outcome:open,customFields.region:South'),
  'crm-best-city': pipeline({ outcome: 'closed', by: 'company', period_from: thisYear }),
  'crm-wrong-stage': ['cpq_get_record', (it) => ({ resource: 'opportunity', id: it.deal })],
  'crm-confidential-cost': quote,
  'crm-confidential-customers': company(),
  'crm-lead-qualified': ['cpq_get_record', (it) => ({ resource: 'opportunity', id: it.deal })],
  'crm-lead-routing': pipeline({ ...won, by: 'owner', category: 'Security' }),
  'crm-invalid-line': quote,
  'crm-handle-time': quotes({ by: 'owner', show: ['days'], date_from: thisYear }),
  'crm-time-to-approval': quotes({
    by: 'owner',
    show: ['days'],
    date: 'approved',
    date_from: thisYear,
  }),
  'crm-best-seller': quotes({ by: 'owner', status: 'approved', item: 'Delock' }),
  'crm-top-issue': quotes({
    by: 'category',
    status: 'declined',
    date: 'declined',
    date_from: thisYear,
  }),
  'crm-next-call': pipeline(({ owner }) => ({ owner, sections: ['overdue'] })),
  'crm-transfer-count': ['cpq_pipeline_changes', () => ({ movement: 'ownerChanged' })],
  'crm-text-insight': opportunities('outcome:open'),
  'average-won': pipeline({ show: ['velocity'], currency: 'USD', period_from: thisYear }),
  'gap-to-target': pipeline({ target: 600_000, currency: 'USD', period_from: thisYear }),
  'approval-rate': quotes({ show: ['approval'], date_from: thisYear }),
  'oldest-unanswered': quotes({ acceptance: 'open to acceptance', sort: 'age' }),
  'label-open': lists('companies', () => 'labels:VIP'),
  'given-rate': pipeline({ rates: 'CAD=0.73 USD', currency: 'USD' }),
  'contracts-by-term': check('contracts'),
  'contracts-top-companies': check('contracts'),
  'contracts-trend': check('contracts'),
  'three-checks': check(['stale_quotes', 'contracts_running_out', 'stalled_opportunities']),
  'lines-of-deals': pipeline({ by: 'product_category', currency: 'USD' }),
  'shared-email': lists('contacts'),
  'price-later': [
    'cpq_price_product',
    (it) => ({ company: it.company, product: it.mpn, on: `${new Date().getUTCFullYear()}-12-31` }),
  ],
  'template-forecast': pipeline({ by: 'close_quarter', currency: 'USD', show: ['velocity'] }),
  'template-pipeline-review': pipeline({ by: 'stage', currency: 'USD' }),
  'template-account': company(),
  'template-call': quote,
  'template-daily-briefing': pipeline(({ owner }) => ({ owner })),
  'write-close-date': write(() => ({ expected_close_date: '2027-09-30' })),
  'write-stage': write(() => ({ stage: 'Verbal yes' })),
  'write-declined': write(() => ({ monthly_revenue: 99_999 }), { declined: true }),
  'write-new': write((it) => ({
    external_id: `DAY-${it.number}`,
    create: true,
    name: 'Office move, 40 seats',
    company: it.company,
    stage: 'New enquiry',
    onetime_revenue: 12_500,
  })),
  'write-unknown-stage': write(() => ({ stage: 'Procurement review' }), refused),
};

const folder = new URL('../evals/questions/', import.meta.url);
const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
const ids = texts.flatMap((text) =>
  [...text.matchAll(/^ {4}id: '([\w-]+)'/gm)].map(([, id]) => id),
);
const missing = ids.filter((id) => !Object.hasOwn(questions, id));
if (missing.length > 0) throw new Error(`bench/day-questions.mjs lacks ${missing.join(', ')}.`);
