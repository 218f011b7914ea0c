/** The entries of discount groups: what each takes off, and on what. The service does not document their fields. */

import { type Decimal, decimal, lessPercent } from '../../figures/money.ts';
import { normaliseName } from '../../figures/naming.ts';
import { CategoryKeys, normalisePart } from '../../names/part-numbers.ts';
import type { Category, Product, Ref } from '../../service/records/records.ts';
import { fieldOf } from '../../values.ts';

/** One entry of a group, as sent. */
export type Discount = Readonly<Record<string, unknown>>;

const sizeOf = ({ amount, discount, percent }: Discount): unknown => amount ?? discount ?? percent;

const isPercent = ({ type, percent }: Discount): boolean =>
  percent !== undefined || /^percent/i.test(String(type ?? 'percent'));

/** What is discounted, and by how much: "10 % on Laptops". */
export function discountWords(
  discount: Discount,
  categoryName: (id: string) => string | undefined,
): string {
  const size = sizeOf(discount);
  const named = discount.category ?? discount.product ?? discount.manufacturer ?? discount.name;
  const { categoryId, productId } = discount;
  const byId =
    typeof categoryId === 'string'
      ? (categoryName(categoryId) ?? `category ${categoryId}`)
      : typeof productId === 'string' && `product ${productId}`;
  const target = typeof named === 'object' ? fieldOf(named, 'name') : named;
  const by =
    size === undefined
      ? 'discount'
      : `${size}${isPercent(discount) ? ' %' : ` (${discount.type})`}`;
  return `${by} on ${target ?? (byId || 'everything')}`;
}

/** A price less a discount in percent; `undefined` for any other discount, whose unit is not documented. */
export function lessDiscount(price: Decimal, discount: Discount): Decimal | undefined {
  const size = sizeOf(discount);
  const isNumber = typeof size === 'number' || (typeof size === 'string' && size.trim() !== '');
  const percent = isNumber && isPercent(discount) ? decimal(Number(size)) : undefined;
  return percent && lessPercent(price, percent);
}

/** What the discount of a product applies to. `unclear`: it is unknown whether it applies to the product. */
export type DiscountTarget =
  | 'product'
  | 'category'
  | 'parent category'
  | 'manufacturer'
  | 'everything'
  | 'unclear';

/**
 * Tells on what a discount is, if a product gets it; `undefined` if it is on something else.
 * @param categories absent where they may not be read
 */
export function discountTargets(
  product: Product,
  categories: readonly Category[] | undefined,
): (discount: Discount) => DiscountTarget | undefined {
  const keys = new CategoryKeys(categories ?? []);
  const own = new Set(keys.keysOfProduct(product));
  const above = categories && ancestorsOf(own, categories);
  const categoryTarget = (category: Ref): DiscountTarget | undefined => {
    const key = keys.keyOf(category) ?? '';
    if (own.has(key)) return 'category';
    if (!above) return 'unclear';
    return above.has(key) ? 'parent category' : undefined;
  };
  return (discount) => {
    const named = target(discount.productId, discount.product);
    if (named) return isSame(product, named) ? 'product' : undefined;
    const category = target(discount.categoryId, discount.category);
    if (category) return categoryTarget(category);
    const maker = target(undefined, discount.manufacturer ?? discount.vendor);
    if (maker) return isMadeBy(product, maker) ? 'manufacturer' : undefined;
    return discount.name === undefined ? 'everything' : 'unclear';
  };
}

const isSame = (product: Product, { id, name }: Ref): boolean =>
  id === undefined ? normaliseName(product.name) === normaliseName(name) : product.id === id;

const isMadeBy = ({ manufacturer, vendor }: Product, { name, id }: Ref): boolean =>
  normalisePart(manufacturer ?? vendor) === normalisePart(name ?? id);

/** What an entry names, by an id, a name or a nested record. */
function target(id: unknown, nested: unknown): Ref | undefined {
  const given = id ?? fieldOf(nested, 'id');
  if (typeof given === 'string' && given !== '') return { id: given };
  const name = typeof nested === 'string' ? nested : fieldOf(nested, 'name');
  return typeof name === 'string' && name !== '' ? { name } : undefined;
}

/** The ids of all categories above these. */
function ancestorsOf(keys: ReadonlySet<string>, categories: readonly Category[]): Set<string> {
  const parents = new Map(categories.map(({ id, parentCategoryId }) => [id, parentCategoryId]));
  const above = new Set<string>();
  const add = (parent: string | undefined): void => {
    if (!parent || above.has(parent)) return;
    above.add(parent);
    add(parents.get(parent));
  };
  for (const key of keys) add(parents.get(key));
  return above;
}
