/** What a filter of a list leaves out, or finds together, otherwise than a person may think. */

import { type Named, plural } from '../figures/naming.ts';
import { flatMapSteps } from '../figures/steps.ts';
import { companyOf } from '../names/references.ts';
import { unlessKeyRefused } from '../service/errors.ts';
import type { ApiRecord } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { join, quote, type Wording, wording } from '../text/untrusted-text.ts';
import { longId } from '../values.ts';
import { nothingKnown } from './columns.ts';
import { type Condition, type Criteria, isEqual, valuesOf, valueUnderKey } from './criteria.ts';
import { readGranted } from './known.ts';

/** Said where a filter by the name of one company may find rows of several, on this page or others. */
export async function describeNamesakes(
  tenant: Tenant,
  records: readonly ApiRecord[],
  total: number,
  { conditions }: Criteria,
  call: ToolCall,
): Promise<Wording | false> {
  const [test, ...others] = conditions.find(({ key }) => key.name === 'company')?.tests ?? [];
  if (test === undefined || !('is' in test) || others.length > 0) return false;
  const shown = records.map(companyOf);
  const name = shown[0]?.name;
  if (!name) return false;
  const areRead = total > shown.length && tenant.grants.has('company:read');
  const reading = areRead ? tenant.collection('company', call, { called: name }) : undefined;
  const companies = (await reading?.catch(unlessKeyRefused))?.records ?? [];
  const called = [...shown, ...companies].filter((one) => one.id && isEqual(one.name, name));
  return (
    new Set(called.map(({ id }) => id)).size > 1 &&
    wording`Several companies are called ${quote(name)}: ask the person which one is meant, and filter by its companyId.`
  );
}

/** Of a filter by whom pricing books are for. */
export function describeAssigned(
  { key, tests }: Condition,
  isUnnamed: boolean,
): (Wording | false)[] {
  const names = tests.flatMap((test) => ('is' in test ? test.is.toLowerCase() : []));
  if (key.name !== 'for' || names.every((name) => name === 'everyone')) return [];
  return [
    isUnnamed &&
      !names.every((name) => longId.test(name)) &&
      wording`The names of companies could not be read: for takes their ids.`,
    !names.includes('everyone') &&
      wording`Books for everyone or for a company's classification apply as well: cpq_brief_company lists all that apply today.`,
  ];
}

const maxSubcategories = 24;

/**
 * Of a filter by names of categories: those below that products have which it leaves out.
 * @param isOther whether a product passes all other filters, and not this one
 */
export async function subcategoriesLeftOut(
  tenant: Tenant,
  { key, tests }: Condition,
  products: readonly ApiRecord[],
  isOther: (product: ApiRecord) => boolean,
  call: ToolCall,
): Promise<Wording | false> {
  const isNamed = ({ name }: Named) => tests.some((test) => 'is' in test && isEqual(name, test.is));
  if (key.name !== 'category' || !tests.every((test) => 'is' in test)) return false;
  await readGranted(tenant, 'category', call, unlessKeyRefused);
  const all = tenant.cached('category') ?? [];
  const below = new Set<Named>();
  for (let above = all.filter(isNamed); above.length > 0; ) {
    const ids = new Set(above.map(({ id }) => id));
    above = all.filter((one) => ids.has(one.parentCategoryId ?? '') && !below.has(one));
    for (const one of above) below.add(one);
  }
  const names = new Set([...below].map(({ name }) => name));
  const values = flatMapSteps(names.size > 0 ? products : [], (product) => {
    const own = valuesOf(valueUnderKey(product, key, nothingKnown)).map(String);
    const named = own.filter((name) => names.has(name));
    return named.length > 0 && isOther(product) ? named : [];
  });
  const others = [...new Set(await runInSlices(values))];
  const shown = others.slice(0, maxSubcategories).map((name) => quote(name));
  return (
    others.length > 0 &&
    wording`Not included: products of ${plural(others.length, 'category')} below, ${join(shown, ', ')}. Add them to the filter with |.`
  );
}
