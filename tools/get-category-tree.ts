import * as z from 'zod';
import { fullRecord } from '../src/lists/concise.ts';
import type { Category } from '../src/service/records/records.ts';
import { fieldGaps } from '../src/tenant/field-gaps.ts';
import { wording } from '../src/text/untrusted-text.ts';
import { toCoverage } from '../src/tool-kit/answers.ts';
import { defineTool } from '../src/tool-kit/define-tool.ts';
import { answerWithRows } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

export const getCategoryTree = defineTool({
  name: 'cpq_get_category_tree',
  title: 'Get the category tree',
  description: 'Product categories in tree order, each with its level, 1 at the top of the tree.',
  toolset: 'routes',
  needs: ['category:read'],
  input: z.strictObject({
    depth: z.int().min(1).max(10).default(3).describe('Levels to show'),
    detail: z.enum(['concise', 'full']).default('concise'),
  }),
  output: { records: schemas.records, coverage: schemas.coverage },
  async run(tenant, { depth, detail }, call) {
    const tree = await tenant.collection('category_tree', call);
    const branches = flatten(tree.records, 1);
    const rows = branches
      .filter(({ level }) => level <= depth)
      .map(({ category, level }) => row(category, level, detail === 'full'));
    const read = branches.length;
    const fields = await fieldGaps(tenant, 'category_tree', tree, ['name']);
    const coverage = toCoverage({ ...tree.coverage, read, total: read, asOf: tree.asOf, fields });
    return answerWithRows(rows.length, (count) => ({
      summary: wording`${count} of ${read} categories.`,
      data: { records: rows.slice(0, count), coverage },
      notes: count < rows.length ? [wording`Ask for a smaller depth.`] : [],
    }));
  },
});

const flatten = (
  categories: readonly Category[],
  level: number,
): { category: Category; level: number }[] =>
  categories.flatMap((category) => [
    { category, level },
    ...flatten(category.children ?? [], level + 1),
  ]);

/** `children`: how many a category has. */
function row({ children, ...category }: Category, level: number, isWhole: boolean) {
  const shown = isWhole ? fullRecord(category) : { name: category.name, id: category.id };
  return { level, ...shown, ...(children?.length ? { children: children.length } : {}) };
}
