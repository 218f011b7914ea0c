import { categories as categoryPaths } from './catalog.ts';
import type { Dataset } from './dataset.ts';
import { classifications, opportunityCategories } from './words.ts';

export type Named = { id: string; name: string };
/** A salesperson: their share of the deals, how often they win, and how often they neglect deals; 1 is average. */
export type Owner = Named & { share: number; skill: number; neglect: number };
export type Stage = Named & { outcome: 'open' | 'won' | 'lost'; probability: number };

/** Reference lists of the tenant that other records refer to. */
export interface Reference {
  owners: Owner[];
  stages: Stage[];
  sources: Named[];
  opportunityCategories: Named[];
  classifications: Named[];
  paymentTerms: Named[];
  /** Leaf categories by name. */
  categories: Map<string, Named>;
}

export function makeReference(dataset: Dataset): Reference {
  return {
    owners: makeOwners(dataset),
    stages: makeStages(dataset),
    sources: named(dataset, 'source', dataset.profile.sources, 'SRC'),
    opportunityCategories: named(dataset, 'opportunity_category', opportunityCategories, 'CAT'),
    classifications: named(dataset, 'classification', classifications, 'CLS'),
    paymentTerms: makePaymentTerms(dataset),
    categories: makeCategories(dataset),
  };
}

function named(dataset: Dataset, table: string, names: readonly string[], prefix: string): Named[] {
  const random = dataset.random.fork(table);
  return dataset.add(
    table,
    names.map((name, at) => ({ id: random.id(), name, externalIdentifier: `${prefix}-${at + 1}` })),
  );
}

/** The salespeople: share of the deals, how often they win, how often they neglect deals. */
const habits: readonly (readonly [share: number, skill: number, neglect: number])[] = [
  [1.7, 1.15, 0.7],
  [0.9, 0.8, 1.7],
  [1.3, 1.3, 0.5],
  [1.5, 0.95, 0.9],
  [0.7, 0.7, 2],
  [1, 1, 1],
  [0.5, 0.6, 1.3],
  [1.1, 1.1, 0.8],
  [0.4, 0.9, 0.6],
];

function makeOwners(dataset: Dataset): Owner[] {
  const random = dataset.random.fork('owner');
  const { firstNames, lastNames, domain } = dataset.profile;
  const rows = habits.map(([share, skill, neglect], at) => {
    const name = `${random.pick(firstNames)} ${lastNames[at * 3] ?? 'Doe'}`;
    const email = `sales${at + 1}@${dataset.tenant}.${domain}`;
    return {
      id: random.id(),
      name,
      email,
      externalIdentifier: `USR-${at + 1}`,
      share,
      skill,
      neglect,
    };
  });
  return dataset.add('owner', rows);
}

function makeStages(dataset: Dataset): Stage[] {
  const random = dataset.random.fork('stage');
  const rows = dataset.profile.stages.map(([name, outcome, probability], at) => ({
    id: random.id(),
    name,
    position: at + 1,
    outcome,
    statusId: dataset.profile.status[outcome],
    probability,
    externalIdentifier: `STG-${at + 1}`,
  }));
  return dataset.add('pipeline_stage', rows);
}

function makePaymentTerms(dataset: Dataset): Named[] {
  const random = dataset.random.fork('payment_term');
  const rows = dataset.profile.paymentTerms.map(([name, days]) => ({
    id: random.id(),
    name,
    days,
  }));
  return dataset.add('payment_term', rows);
}

/** A tree of three levels; the `Legacy` branch is unlisted and has no products. */
function makeCategories(dataset: Dataset): Map<string, Named> {
  const random = dataset.random.fork('category');
  const byPath = new Map<string, Named>();
  for (const path of categoryPaths) {
    const steps = path.split('/');
    steps.forEach((name, depth) => {
      const key = steps.slice(0, depth + 1).join('/');
      if (byPath.has(key)) return;
      const parent = byPath.get(steps.slice(0, depth).join('/'));
      const row = {
        id: random.id(),
        name,
        parentCategoryId: parent?.id,
        listed: steps[0] !== 'Legacy',
        markup: random.chance(0.4) ? random.int(8, 60) : undefined,
      };
      byPath.set(key, row);
      dataset.add('category', [row]);
    });
  }
  const leaves = [...byPath].filter(([path]) => categoryPaths.includes(path));
  return new Map(leaves.map(([, category]) => [category.name, category]));
}
