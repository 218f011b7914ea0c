import { expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import { belongsTo, RecordsByCompany } from '../../src/names/company-reference.ts';
import fc from '../support/fast-check.ts';

/** Any of these fields may be missing. */
const anyOf = { requiredKeys: [] };
const id = fc.constantFrom('a', 'b', ' ', '');
const name = fc.constantFrom('Acme', 'ACME ', 'Bäcker', '  ', '');
const company = fc.record({ id, name }, anyOf);
const record = fc.record({ companyId: id, companyName: name, company }, anyOf);

test('records grouped by company are those that belong to it, in their order', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 12 }), company, (records, owner) => {
      const grouped = runSteps(RecordsByCompany.of(records));
      expect(grouped.of(owner)).toEqual(records.filter((each) => belongsTo(each, owner)));
    }),
  );
});
