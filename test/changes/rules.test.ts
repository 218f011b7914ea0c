import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkAllowed, checkHourlyLimit, refuseJustCreated } from '../../src/changes/decide.ts';
import type { FieldChange } from '../../src/changes/fields.ts';
import { shownValue } from '../../src/changes/fields.ts';
import { journalError, readChanges } from '../../src/changes/journal.ts';
import { describeError } from '../../src/mcp/wording.ts';
import type { WriteRules } from '../../src/tenant/shared-state.ts';
import { stateWith, tenantOver } from '../support/changes.ts';
import type { Row } from '../support/hosts.ts';

afterEach(() => {
  vi.useRealTimers();
});

const change = (field: string, from: unknown, to: unknown): FieldChange => ({
  field,
  label: field,
  kind: 'text',
  from,
  to,
});

test.each<[FieldChange['kind'] | undefined, unknown, number | string]>([
  ['money', 0, 0],
  ['text', undefined, '(empty)'],
  ['text', '', ''],
  ['text', ' as stored ', ' as stored '],
  ['reference', { id: 'x', name: 'X' }, 'X (x)'],
  ['reference', { id: 'x' }, 'x'],
  ['reference', { id: '', name: 'X' }, 'X'],
  ['custom', { id: 'x', name: 'X' }, '{"id":"x","name":"X"}'],
  [undefined, { id: 'x', name: 'X' }, '{"id":"x","name":"X"}'],
  ['custom', ['a', 1], '["a",1]'],
  ['custom', true, 'true'],
])('the value of the kind %s is shown: %o', (kind, value, shown) => {
  const found = shownValue(kind, value);
  expect(typeof found === 'number' ? found : found.text).toBe(shown);
});

describe('what an operator does not let agents write', () => {
  const lookAlike = 'GEWоNNEN\u00a0(wоn)\u3164';
  const allowed = async (changes: FieldChange[], rules: Partial<WriteRules>) => {
    const { tenant } = await tenantOver({}, { rules });
    return checkAllowed(tenant, { changes }).then(
      () => 'allowed',
      ({ message }) => message,
    );
  };
  const toStage = (id: string, name?: string): FieldChange =>
    change('stage', undefined, name === undefined ? { id } : { id, name });

  const fields = (...names: string[]) => ({ fields: new Set(names) });
  const changed = (...names: string[]) => names.map((name) => change(name, 'a', 'b'));
  test.each<[FieldChange[], Partial<WriteRules>, RegExp]>([
    [changed('name'), fields('name'), /^allowed$/],
    [changed('name', 'owner'), fields('name'), /write owner\. Allowed: name\.$/],
    [
      changed('name', 'description', 'owner'),
      fields('name', 'stage'),
      /write description, owner\. Allowed: name, stage\.$/,
    ],
    [changed('name'), { allowedStages: ['won'] }, /^allowed$/],
    [[change('stage', { id: 's1' }, undefined)], { allowedStages: ['won'] }, /^allowed$/],
  ])('of the fields %j with %o', async (changes, rules, answer) => {
    expect(await allowed(changes, rules)).toMatch(answer);
  });

  test.each<[what: string, stage: FieldChange, setting: string, answer: RegExp]>([
    ['a stage', toStage('s2', 'Won'), 'won', /^allowed$/],
    ['a stage by its id', toStage('s2', 'Won'), 'S2', /^allowed$/],
    ['a stage whose name is not known', toStage('s2'), 'won', /set the stage "s2"/],
    ['another name of a stage', toStage('s1', 'Proposal'), 'offer', /set the stage "Proposal"/],
    ['a stage that has an id only', toStage('7'), '7', /^allowed$/],
    ['an empty name', toStage('7', ''), 'won', /set the stage ""/],
    ['a setting that looks the same', toStage('s9', 'Gewonnen (won)'), lookAlike, /^allowed$/],
    ['a name that looks the same', toStage('s8', lookAlike), 'gewonnen (won)', /^allowed$/],
    [
      'the beginning of a name',
      toStage('s9', 'Gewonnen (won)'),
      'Gewonnen',
      /Allowed: "Gewonnen"\./,
    ],
    ['a stage unknown so far', toStage('s10', 'Lost'), 'lost', /^allowed$/],
    [
      'another stage',
      toStage('s1', 'Proposal'),
      'won',
      /set the stage "Proposal"\. Allowed: "won"\./,
    ],
    ['another stage without a name', toStage('s10'), 'won', /stage "s10"\./],
  ])('of stages: %s', async (_, stage, setting, answer) => {
    expect(await allowed([stage], { allowedStages: [setting] })).toMatch(answer);
  });
});

const tenantWithJournal = async (entries: Row[], rules: Partial<WriteRules> = {}) =>
  (await tenantOver({}, { state: stateWith(entries, 1), rules })).tenant;

const intent = (id: string, more: Row = {}): Row => ({
  phase: 'sending',
  id,
  at: '2026-06-01T12:00:00Z',
  what: 'change',
  externalId: 'E-1',
  name: 'One',
  before: {},
  changes: [{ field: 'name' }],
  ...more,
});
const outcome = (id: string, result = 'written'): Row => ({ phase: 'done', id, outcome: result });

describe('the limit of writes an hour', () => {
  const minutesAgo = (minutes: number, id: string) =>
    intent(id, {
      at: new Date(Date.parse('2026-06-01T12:00:00Z') - minutes * 60_000).toISOString(),
    });
  const entries = [
    minutesAgo(60, 'a'),
    minutesAgo(59.5, 'b'),
    minutesAgo(30, 'c'),
    outcome('c', 'cannot_tell'),
    minutesAgo(20, 'd'),
    outcome('d', 'not_written'),
    minutesAgo(10, 'e'),
    outcome('e'),
  ];
  const waitAt = async (perHour: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-01T12:00:00Z') });
    const tenant = await tenantWithJournal(entries, { perHour });
    return checkHourlyLimit(tenant).then(
      () => undefined,
      ({ message }) => message.match(/in (\d+) minutes/)?.[1] ?? message,
    );
  };

  test.each([
    [1, '50'],
    [2, '30'],
    [3, '1'],
    [4, undefined],
    [0, 'The operator of this server has disabled writing.'],
  ])('of %i', async (perHour, wait) => {
    expect(await waitAt(perHour)).toBe(wait);
  });
});

test.each<[string, Row[], string, minutes?: number]>([
  ['was created', [outcome('a')], 'got'],
  ['was created longer than a question is open, not', [outcome('a')], 'allowed', 10],
  ['may have been created', [outcome('a', 'cannot_tell')], 'may have got'],
  ['is being created', [], 'may have got'],
  ['was not created', [outcome('a', 'not_written')], 'allowed'],
])('an identifier that %s a moment ago', async (_, entries, expected, minutes = 0) => {
  const at = new Date(Date.now() - minutes * 60_000).toISOString();
  const made = intent('a', { what: 'create', externalId: 'NEW-1', at });
  const tenant = await tenantWithJournal([made, ...entries]);
  const told = refuseJustCreated(tenant, 'NEW-1').then(
    () => 'allowed',
    ({ message }) => message,
  );
  expect(await told).toMatch(
    expected === 'allowed' ? /^allowed$/ : `A new opportunity ${expected} the external identifier`,
  );
});

describe('the changes in a journal', () => {
  test('are the newest first, each with its outcome and the change that reverts it', async () => {
    const tenant = await tenantWithJournal([
      intent('a'),
      outcome('a'),
      intent('b', { reverts: 'a' }),
      outcome('b'),
      intent('c', { reverts: 'b' }),
      outcome('c', 'not_written'),
      intent('d', { reverts: 'gone' }),
      intent('e', { reverts: 'c' }),
    ]);
    const { changes, damaged } = await readChanges(tenant);
    expect(damaged).toBe(1);
    expect(
      changes.map(({ intent, outcome, revertedBy }) => [intent.id, outcome?.outcome, revertedBy]),
    ).toEqual([
      ['e', undefined, undefined],
      ['d', undefined, undefined],
      ['c', 'not_written', undefined],
      ['b', 'written', undefined],
      ['a', 'written', 'b'],
    ]);
  });

  test.each<[string, Row]>([
    ['of an unknown phase', intent('a', { phase: 'other' })],
    ['without an identifier', intent('a', { externalId: undefined })],
    ['without a time', intent('a', { at: 5 })],
    ['without a name', intent('a', { name: null })],
    ['with values before that are none', intent('a', { before: [] })],
    ['with changes that are no list', intent('a', { changes: {} })],
    ['with a change that is none', intent('a', { changes: [{}, 'x'] })],
    ['with a change of no field', intent('a', { changes: [{}] })],
    ['of an unknown outcome', outcome('a', 'perhaps')],
    ['of an outcome without its change', { ...outcome('a'), id: 5 }],
    ['of an outcome in another phase', { ...outcome('a'), phase: 'sending' }],
  ])('leave out and count an entry %s', async (_, entry) => {
    const tenant = await tenantWithJournal([entry, intent('b')]);
    const { changes, damaged } = await readChanges(tenant);
    expect([changes.map(({ intent }) => intent.id), damaged]).toEqual([['b'], 2]);
  });

  test('an outcome without its intent is no change', async () => {
    const tenant = await tenantWithJournal([outcome('a'), intent('b')]);
    const { changes, damaged } = await readChanges(tenant);
    expect([changes.map(({ outcome }) => outcome), damaged]).toEqual([[undefined], 1]);
  });
});

test('a journal that cannot be used is explained by its error', () => {
  const error = journalError('read', Object.assign(new Error(), { code: 'EACCES' }));
  expect(error.message).toBe('The journal of changes cannot be read (EACCES).');
  expect(describeError(error, (name) => `<${name}>`)).toContain('<stateDir>');
  expect(journalError('written', 'x').message).toContain('cannot be written (unknown reason)');
});
