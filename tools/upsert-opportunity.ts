import * as z from 'zod';
import { decide } from '../src/changes/decide.ts';
import { makePlan } from '../src/changes/plan.ts';
import { TargetFinder } from '../src/changes/target.ts';
import { fieldsOf } from '../src/service/records/records.ts';
import { type AllowedInvisible, firstInvisible } from '../src/text/invisible-characters.ts';
import { changeOutput, decisionAnswer } from '../src/tool-kit/change-answers.ts';
import { defineTool, writingHints } from '../src/tool-kit/define-tool.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

const { startDate: dayFromService } = fieldsOf.opportunity;

/** Refuses invisible characters: a person cannot consent to what they cannot see. */
const visible =
  (allowed: AllowedInvisible, otherwise = '') =>
  (given: string, context: z.RefinementCtx<string>) => {
    const unseen = firstInvisible(given, allowed);
    if (!unseen) return;
    const message = `must not contain ${unseen.name}, at position ${unseen.at}, which is invisible${otherwise}`;
    context.addIssue({ code: 'custom', message });
  };

/** Kept exactly as given, with leading and trailing blanks. */
const passThrough = (about: string) =>
  z
    .string()
    .max(20_000)
    .refine((given) => given.trim() !== '', 'must not be blank')
    .superRefine(visible({ lines: true, joiners: true }))
    .optional()
    .describe(about);

/** Other dates are read as none: services store them where there is no date. */
const dayToStore = schemas.plainDay
  .refine(
    (text) => text === undefined || dayFromService(text) !== undefined,
    'must be from 1971 to 2098',
  )
  .describe('YYYY-MM-DD');

const amount = z.number().min(0).max(1e12).optional();

const share = z
  .number()
  .superRefine((value, context) => {
    if (value >= 0 && value <= 1) return;
    const hint = value > 1 && value <= 100 ? `; did you mean ${value / 100}?` : '';
    context.addIssue({ code: 'custom', message: `must be 0–1${hint}` });
  })
  .optional()
  .describe('0–1');

export const upsertOpportunity = defineTool({
  name: 'cpq_upsert_opportunity',
  title: 'Create or change an opportunity',
  description:
    'Writes one opportunity after a person agreed to the exact difference; give only what should change. external_id with create makes a new one, description holding the customer ask. If it answers with a token, show the person the preview first.',
  toolset: 'routes',
  needs: ['opportunity:write'],
  hints: writingHints,
  view: 'change',
  input: z.strictObject({
    external_id: schemas.nameOfRecord
      .superRefine(
        visible({}, '; to change an opportunity that has such an identifier, use opportunity_id'),
      )
      .optional(),
    opportunity_id: schemas.nameOfRecord.superRefine(visible({})).optional(),
    create: z.boolean().default(false),
    confirm: z.string().min(1).max(200).optional().describe('Token of the preview'),
    name: schemas.nameOfRecord.superRefine(visible({ joiners: true })).optional(),
    description: passThrough('Customer ask'),
    // Names of other records, whose ids are written.
    company: schemas.nameFilter.describe('Id, external id or name'),
    contact: schemas.nameFilter.describe('Or e-mail'),
    owner: schemas.nameFilter,
    stage: schemas.nameFilter,
    category: schemas.nameFilter,
    source: schemas.nameFilter,
    probability: share,
    onetime_revenue: amount,
    monthly_revenue: amount,
    value_months: z.int().min(0).max(1_200).optional(),
    start_date: dayToStore,
    expected_close_date: dayToStore,
    custom_fields: z
      .array(
        z
          .string()
          .max(20_000)
          .refine((text) => /^\s*[^\s=][^=]*=/.test(text), 'each must be name=value')
          .superRefine(visible({ joiners: true })),
      )
      .max(100)
      .optional()
      .describe('Each as name=value'),
  }),
  output: changeOutput,
  async run(
    tenant,
    { external_id, opportunity_id, create, confirm, custom_fields, ...fields },
    call,
  ) {
    const values = {
      ...fields,
      custom_fields: custom_fields && Object.fromEntries(custom_fields.map(pair)),
    };
    const selector = { externalId: external_id, opportunityId: opportunity_id, create };
    return decisionAnswer(
      await decide(tenant, [selector, values], call, async () =>
        makePlan(tenant, await new TargetFinder(tenant, call).find(selector), values, call),
      ),
    );
  },
});

/** An empty value clears the field. */
function pair(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}
