/** What a filter of a list leaves out, or finds together, otherwise than a person may think. */

import { groupBy, type Named, plural } from '../figures/naming.ts';
import { flatMapSteps } from '../figures/steps.ts';
import { companyOf } from '../names/references.ts';
import type { ApiRecord } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { applying, join, quote, type Wording, wording } from '../text/untrusted-text.ts';
import { nothingKnown } from './columns.ts';
import { type Condition, type Criteria, isEqual, valuesOf, valueUnderKey } from './criteria.ts';
import { readGranted } from './known.ts';

/** Said where a filter by the name of a company finds rows of several. */
export function namesakesAmong(records: readonly ApiRecord[], { conditions }: Criteria): Wording[] {
  if (!conditions.some(({ key }) => key.name === 'company')) return [];
  const companies = records.map(companyOf).filter(({ id, name }) => id && name);
  const byName = groupBy(companies, ({ name = '' }) => name.toLowerCase());
  const isShared = ([{ id }, ...others]: readonly [Named, ...Named[]]) =>
    others.some((other) => other.id !== id);
  return applying([
    [...byName.values()].some(isShared) &&
      wording`These rows are of several companies with the same name: ask the person which one is meant, and filter by its companyId.`,
  ]);
}

/** Of a filter by whom pricing books are for. */
export function describeAssigned({ key, tests }: Condition, isUnnamed: boolean): Wording[] {
  const names = tests.flatMap((test) => ('is' in test ? test.is.toLowerCase() : []));
  if (key.name !== 'for' || names.every((name) => name === 'everyone')) return [];
  return applying([
    isUnnamed && wording`The names of companies could not be read: for takes their ids.`,
    !names.includes('everyone') &&
      wording`Books for everyone or for a company's classification apply as well: cpq_brief_company lists all that apply today.`,
  ]);
}

const maxSubcategories = 24;

/** Of a filter by category: the categories below that products have. */
export async function subcategoriesLeftOut(
  tenant: Tenant,
  conditions: readonly Condition[],
  products: readonly ApiRecord[],
  call: ToolCall,
): Promise<Wording[]> {
  const condition = conditions.find(({ key }) => key.name === 'category');
  if (!condition) return [];
  const { key, tests } = condition;
  await readGranted(tenant, ['category'], call);
  const all = tenant.cached('category') ?? [];
  const isNamed = ({ name }: Named) => tests.some((test) => 'is' in test && isEqual(name, test.is));
  const below = new Set<Named>();
  for (let above = all.filter(isNamed); above.length > 0; ) {
    const ids = new Set(above.map(({ id }) => id));
    above = all.filter((one) => ids.has(one.parentCategoryId ?? '') && !below.has(one));
    for (const one of above) below.add(one);
  }
  const names = new Set([...below].filter((one) => !isNamed(one)).map(({ name }) => name));
  const values = flatMapSteps(products, (product) =>
    valuesOf(valueUnderKey(product, key, nothingKnown)).filter((value) => names.has(String(value))),
  );
  const others = names.size === 0 ? [] : [...new Set(await runInSlices(values))];
  if (others.length === 0) return [];
  const shown = join(
    others.slice(0, maxSubcategories).map((name) => quote(String(name))),
    ', ',
  );
  return [
    wording`Not included: products of ${plural(others.length, 'category')} below, ${shown}. Add them to the filter with |.`,
  ];
}
