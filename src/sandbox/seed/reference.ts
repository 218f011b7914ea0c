import { categories as categoryPaths } from './catalog.ts';
import { classifications, opportunityCategories } from './words.ts';
import type { World } from './world.ts';

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

export function makeReference(world: World): Reference {
  return {
    owners: makeOwners(world),
    stages: makeStages(world),
    sources: named(world, 'source', world.profile.sources, 'SRC'),
    opportunityCategories: named(world, 'opportunity_category', opportunityCategories, 'CAT'),
    classifications: named(world, 'classification', classifications, 'CLS'),
    paymentTerms: makePaymentTerms(world),
    categories: makeCategories(world),
  };
}

function named(world: World, table: string, names: readonly string[], prefix: string): Named[] {
  const random = world.random.fork(table);
  return world.add(
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

function makeOwners(world: World): Owner[] {
  const random = world.random.fork('owner');
  const { firstNames, lastNames, domain } = world.profile;
  const rows = habits.map(([share, skill, neglect], at) => {
    const name = `${random.pick(firstNames)} ${lastNames[at * 3] ?? 'Doe'}`;
    const email = `sales${at + 1}@${world.tenant}.${domain}`;
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
  return world.add('owner', rows);
}

function makeStages(world: World): Stage[] {
  const random = world.random.fork('stage');
  const rows = world.profile.stages.map(([name, outcome, probability], at) => ({
    id: random.id(),
    name,
    position: at + 1,
    outcome,
    statusId: world.profile.status[outcome],
    probability,
    externalIdentifier: `STG-${at + 1}`,
  }));
  return world.add('pipeline_stage', rows);
}

function makePaymentTerms(world: World): Named[] {
  const random = world.random.fork('payment_term');
  const rows = world.profile.paymentTerms.map(([name, days]) => ({ id: random.id(), name, days }));
  return world.add('payment_term', rows);
}

/** A tree of three levels; the `Legacy` branch is unlisted and has no products. */
function makeCategories(world: World): Map<string, Named> {
  const random = world.random.fork('category');
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
      world.add('category', [row]);
    });
  }
  return new Map(categoryPaths.map((path) => leaf(byPath, path)));
}

function leaf(byPath: Map<string, Named>, path: string): [string, Named] {
  const category = byPath.get(path);
  if (!category) throw new Error(`No category ${path}`);
  return [category.name, category];
}
