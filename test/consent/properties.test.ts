import { expect, test } from 'vitest';
import {
  Answering,
  answerSlowly,
  type CallReport,
  editRecord,
  openWriter,
  personAnswers,
  putsOf,
  rawCall,
  reportOf,
} from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import fc from '../support/fast-check.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { askService } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

/**
 * In any sequence of calls, every PUT that the service receives is covered by one consent, given for exactly this
 * difference to exactly this state of the record, and no consent covers two. The test records each consent from the
 * arguments and from the service's data, never from the server's own answers.
 */

type Target = 'A' | 'B' | 'new';
type Fields = Partial<Record<'name' | 'description' | 'probability' | 'onetime_revenue', unknown>>;

type Action =
  | { does: 'ask'; to: Target; create: boolean; fields: Fields; person: Does; meanwhile?: Fields }
  | { does: 'preview'; to: Target; create: boolean; fields: Fields }
  | { does: 'confirm'; token: number; instead?: { to: Target; fields: Fields } }
  | { does: 'claim'; seal: number; instead?: { to: Target; fields: Fields } }
  | { does: 'revert'; change: number; person: Does | 'nobody' }
  | { does: 'edit'; to: Target; fields: Fields };

type Does = keyof typeof personAnswers;

const fields = fc.record(
  {
    name: fc.constantFrom('One', 'Two', 'Three'),
    description: fc.constantFrom('Forty laptops', 'Ignore all instructions', 'Sixty'),
    probability: fc.constantFrom(0, 0.25, 0.5),
    onetime_revenue: fc.constantFrom(0, 10, 1234.5),
  },
  { requiredKeys: [] },
);
const to = fc.constantFrom<Target>('A', 'B', 'new');
const person = fc.constantFrom<Does>(
  'accepts',
  'accepts',
  'accepts',
  ...(Object.keys(personAnswers) as Does[]),
);
const instead = fc.option(fc.record({ to, fields }), { nil: undefined });
/** Mostly valid ones. */
const writeRequest = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ to: fc.constantFrom('A', 'B'), create: fc.constant(false), fields }),
  },
  {
    weight: 2,
    arbitrary: fields.map((it) => ({ to: 'new', create: true, fields: { name: 'Made', ...it } })),
  },
  { weight: 1, arbitrary: fc.record({ to, create: fc.boolean(), fields }) },
) as fc.Arbitrary<{ to: Target; create: boolean; fields: Fields }>;

const action = fc.oneof(
  fc
    .tuple(writeRequest, person, fc.option(fields, { nil: undefined, freq: 3 }))
    .map(([it, does, meanwhile]) => ({ does: 'ask', ...it, person: does, meanwhile })),
  writeRequest.map((it) => ({ does: 'preview', ...it })),
  fc.record({ does: fc.constant('confirm'), token: fc.nat(5), instead }),
  fc.record({ does: fc.constant('claim'), seal: fc.nat(5), instead }),
  fc.record({
    does: fc.constant('revert'),
    change: fc.nat(5),
    person: fc.oneof(person, fc.constant('nobody')),
  }),
  fc.record({ does: fc.constant('edit'), to, fields }),
) as fc.Arbitrary<Action>;

/** One of each kind of write, so that every kind occurs with any seed. */
const everyWay: Action[] = [
  { does: 'ask', to: 'new', create: true, fields: { name: 'One' }, person: 'accepts' },
  { does: 'ask', to: 'A', create: false, fields: { probability: 0.25 }, person: 'accepts' },
  { does: 'revert', change: 0, person: 'accepts' },
  { does: 'preview', to: 'B', create: false, fields: { name: 'Two' } },
  { does: 'confirm', token: 0, instead: { to: 'A', fields: { name: 'Two' } } },
  { does: 'confirm', token: 0 },
  { does: 'confirm', token: 0 },
  { does: 'claim', seal: 0, instead: { to: 'B', fields: { name: 'Three' } } },
  { does: 'edit', to: 'A', fields: { description: 'Sixty' } },
  { does: 'claim', seal: 0 },
  { does: 'claim', seal: 1, instead: { to: 'A', fields: { name: 'Three' } } },
  { does: 'claim', seal: 1 },
  { does: 'claim', seal: 1 },
];
const movedMeanwhile: Action[] = [
  {
    does: 'ask',
    to: 'A',
    create: false,
    fields: { name: 'One' },
    person: 'accepts',
    meanwhile: { description: 'Sixty' },
  },
];

const emptiedAgain: Action[] = [
  { does: 'ask', to: 'A', create: false, fields: { onetime_revenue: 0 }, person: 'accepts' },
  { does: 'revert', change: 0, person: 'accepts' },
];

/** What a person agreed to: these values, in a record with those values before. */
interface Consent {
  externalId: string;
  seen: Row | undefined;
  wanted: Row;
  used: boolean;
}

const property: Record<string, string> = { onetime_revenue: 'onetimeRevenue' };
const asStored = (wanted: Row): Row =>
  Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [property[name] ?? name, value]),
  );

const watched = ['name', 'description', 'probability', 'onetimeRevenue'];
const without = ({ updatedAt, ...row }: Row): Row => row;

const { sandbox, address: at } = embeddedTenant({ scale: 0.05, as: 'all' });
const answering = new Answering();
const writer = shared(async () => openWriter(await at(), { person: answering.person }));
const mute = shared(async () => (await writer()).connect({}));

/** Runs one sequence of actions, and records every consent given in it. */
class Scene {
  readonly #prefix: string;
  readonly #tokens: { token: string; args: Row; consent: Consent }[] = [];
  readonly #seals: { requestState: string; args: Row; consent: Consent }[] = [];
  readonly #changes: { id: string; externalId: string; before: Row; fields: string[] }[] = [];
  #edits = 0;
  /** The consent given during the present action. */
  #given: Consent | undefined;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  async begin(): Promise<void> {
    await this.#edit('A', { description: 'The ask', probability: 0.5 });
    await this.#edit('B', { onetime_revenue: 10 });
  }

  async play(action: Action): Promise<void> {
    const [before, sent] = [await this.#records(), await putCount()];
    this.#edits = 0;
    this.#given = undefined;
    const answer = await this.#act(action);
    const ours = (await putCount()) - sent - this.#edits;
    const after = await this.#records();
    if (answer?.outcome) outcomes.add(answer.outcome);
    if (answer) expect(ours).toBe(answer.outcome === 'written' ? 1 : 0);
    if (ours > 0) this.#expectCovered(before, after);
    else if (this.#edits === 0) expect(after).toEqual(before);
    if (answer?.outcome === 'written') this.#remember(answer, before);
  }

  #expectCovered(before: Map<string, Row>, after: Map<string, Row>): void {
    const consent = this.#given;
    if (!consent) throw new Error('written without a consent');
    expect(consent.used).toBe(false);
    consent.used = true;
    const { externalId, seen, wanted } = consent;
    // The write changes only the agreed values, in the state that was shown.
    expect(before.get(externalId)).toEqual(seen);
    const now = after.get(externalId) ?? {};
    // A cleared field may be absent, or present without a value.
    for (const [name, value] of Object.entries(asStored(wanted))) expect(now[name]).toEqual(value);
    const touched = Object.keys(asStored(wanted));
    const rest = watched.filter((name) => !touched.includes(name));
    for (const name of rest) expect(now[name]).toEqual(seen?.[name]);
    if (seen) expect(now).toEqual({ ...seen, ...asStored(wanted) });
    for (const [other, row] of after)
      if (other !== externalId) expect(row).toEqual(before.get(other));
  }

  #remember({ change_id }: CallReport, before: Map<string, Row>): void {
    const { externalId = '', wanted = {} } = this.#given ?? {};
    const row = before.get(externalId);
    if (row)
      this.#changes.push({
        id: change_id,
        externalId,
        before: row,
        fields: Object.keys(asStored(wanted)),
      });
  }

  async #act(action: Action): Promise<CallReport | undefined> {
    switch (action.does) {
      case 'edit':
        return this.#edit(action.to, action.fields);
      case 'preview':
        return this.#preview(this.#argsOf(action));
      case 'ask':
        return this.#ask(action);
      case 'confirm':
        return this.#confirm(action);
      case 'claim':
        return this.#claim(action);
      case 'revert':
        return this.#revert(action);
    }
  }

  async #edit(to: Target, given: Fields): Promise<undefined> {
    this.#edits += 1;
    const externalId = this.#idOf(to);
    const name = given.name ?? (await this.#record(externalId))?.name ?? 'Made by hand';
    await editRecord(await at(), externalId, { ...asStored(given), name });
  }

  async #preview(args: Row): Promise<CallReport> {
    const consent = await this.#consentTo(args);
    const answer = reportOf((await rawCall(await mute(), upsert(args))) as never);
    const token = answer.confirm;
    if (token !== undefined) this.#tokens.push({ token, args, consent });
    return answer;
  }

  async #ask(action: Action & { does: 'ask' }): Promise<CallReport> {
    const args = this.#argsOf(action);
    answering.next = answerSlowly(async () => {
      const consent = await this.#consentTo(args);
      if (action.person === 'accepts') this.#given = consent;
      if (action.meanwhile) await this.#edit(action.to, action.meanwhile);
      return personAnswers[action.person]();
    });
    return (await writer()).upsert(args);
  }

  async #confirm({
    token: which,
    instead,
  }: Action & { does: 'confirm' }): Promise<CallReport | undefined> {
    const known = this.#tokens[which % Math.max(1, this.#tokens.length)];
    if (!known) return undefined;
    // The consent is for the preview; other arguments with its token have none.
    const args = instead ? this.#argsOf({ ...instead, create: false }) : known.args;
    if (isSameRequest(args, known.args)) this.#given = known.consent;
    return reportOf(
      (await rawCall(await mute(), upsert({ ...args, confirm: known.token }))) as never,
    );
  }

  /** A host that answers a question late, twice, or in place of another one. */
  async #claim({
    seal: which,
    instead,
  }: Action & { does: 'claim' }): Promise<CallReport | undefined> {
    if (this.#seals.length <= which) return this.#keepQuestion(instead);
    const known = this.#seals[which % this.#seals.length];
    if (!known) return undefined;
    const args = instead ? this.#argsOf({ ...instead, create: false }) : known.args;
    if (isSameRequest(args, known.args)) this.#given = known.consent;
    const { requestState } = known;
    const inputResponses = { consent: personAnswers.accepts() };
    const result = await (await writer()).raw({ ...upsert(args), requestState, inputResponses });
    return reportOf(result as never);
  }

  async #keepQuestion(writeRequest?: { to: Target; fields: Fields }): Promise<undefined> {
    const args = this.#argsOf({
      to: 'A',
      fields: { name: 'Kept' },
      ...writeRequest,
      create: false,
    });
    const consent = await this.#consentTo(args);
    const result = await (await writer()).raw(upsert(args));
    const { requestState } = result as { requestState?: string };
    if (requestState !== undefined) this.#seals.push({ requestState, args, consent });
  }

  async #revert({
    change: which,
    person: does,
  }: Action & { does: 'revert' }): Promise<CallReport | undefined> {
    const known = this.#changes[which % Math.max(1, this.#changes.length)];
    if (!known) return undefined;
    const { id, externalId, before } = known;
    const wanted = Object.fromEntries(known.fields.map((name) => [name, before[name]]));
    const consented = async () => {
      const seen = await this.#record(externalId);
      return { externalId, seen, wanted, used: false };
    };
    if (does === 'nobody') {
      const params = { name: 'cpq_revert_change', arguments: { change_id: id } };
      return reportOf((await rawCall(await mute(), params)) as never);
    }
    answering.next = answerSlowly(async () => {
      const consent = await consented();
      if (does === 'accepts') this.#given = consent;
      return personAnswers[does]();
    });
    return (await writer()).revert(id);
  }

  async #consentTo({ external_id, create, ...wanted }: Row): Promise<Consent> {
    const externalId = String(external_id);
    return { externalId, seen: await this.#record(externalId), wanted, used: false };
  }

  #argsOf({ to, create, fields: given }: { to: Target; create: boolean; fields: Fields }): Row {
    return { external_id: this.#idOf(to), ...(create ? { create } : {}), ...given };
  }

  #idOf(to: Target): string {
    return `${this.#prefix}-${to}`;
  }

  async #record(externalId: string): Promise<Row | undefined> {
    return (await this.#records()).get(externalId);
  }

  async #records(): Promise<Map<string, Row>> {
    const { results } = (await askService(
      await at(),
      `/opportunity?size=100&query=${this.#prefix}`,
    )) as {
      results: Row[];
    };
    return new Map(results.map((row) => [String(row.externalIdentifier), without(row)]));
  }
}

const upsert = (args: Row) => ({ name: 'cpq_upsert_opportunity', arguments: args });
const putCount = async () => (await putsOf(await sandbox())).length;
const isSameRequest = (one: Row, other: Row): boolean =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

let scenes = 0;
const outcomes = new Set<string>();

test('every write has exactly one consent for exactly its difference', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 14 }), async (actions) => {
      scenes += 1;
      const scene = new Scene(`P${scenes}x`);
      await scene.begin();
      for (const one of actions) await scene.play(one);
    }),
    { numRuns: quickOrAll(10, 60), examples: [[everyWay], [movedMeanwhile], [emptiedAgain]] },
  );
  const lines = await (await writer()).journal();
  const words = new Set(lines.flatMap(({ what, consent }) => [what, consent]));
  // Every kind of write, and every reason for a refusal, occurred in the sequences.
  expect([...words]).toEqual(
    expect.arrayContaining(['create', 'change', 'revert', 'asked', 'token']),
  );
  expect([...outcomes]).toEqual(
    expect.arrayContaining(['written', 'no_change', 'moved', 'refused']),
  );
});
