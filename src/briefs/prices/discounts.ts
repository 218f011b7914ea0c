/** The entries of discount groups: what each takes off, and on what. The service does not document their fields. */

import { type Decimal, decimal, lessPercent } from '../../figures/money.ts';
import { isNothing } from '../../service/records/recognition.ts';
import type { Category, Product } from '../../service/records/records.ts';
import { fieldOf } from '../../values.ts';

/** One entry of a group, as sent. */
export type Discount = Readonly<Record<string, unknown>>;

function sizeOf({ amount, discount, percent }: Discount): unknown {
  const size = amount ?? discount ?? percent;
  return typeof size === 'string' && size.trim() === '' ? undefined : size;
}

const isId = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Without a type, what is more than the whole price is no share of it. */
const isPercent = (discount: Discount): boolean =>
  !isNothing(discount.percent) ||
  (isNothing(discount.type)
    ? Number(sizeOf(discount)) <= 100
    : /^percent/i.test(String(discount.type)));

/**
 * What is discounted, and by how much: "10 % on Laptops".
 * @param nameOf of a category or a product
 */
export function discountWords(
  discount: Discount,
  nameOf: (id: string) => string | undefined,
): string {
  const size = sizeOf(discount);
  const { category, product, manufacturer, vendor, name } = discount;
  const named = category ?? product ?? manufacturer ?? vendor ?? name;
  const { categoryId, productId } = discount;
  const byId = isId(categoryId)
    ? (nameOf(String(categoryId)) ?? `category ${categoryId}`)
    : isId(productId) && (nameOf(String(productId)) ?? `product ${productId}`);
  const target = typeof named === 'object' ? fieldOf(named, 'name') : named;
  const by =
    size === undefined
      ? 'discount'
      : `${size}${isPercent(discount) ? ' %' : ` (${discount.type ?? 'no type'})`}`;
  return `${by} on ${target ?? (byId || 'everything')}`;
}

/** A price less a discount in percent; `undefined` for any other discount, whose unit is not documented. */
export function lessDiscount(price: Decimal, discount: Discount): Decimal | undefined {
  const size = sizeOf(discount);
  const isNumber = typeof size === 'number' || typeof size === 'string';
  const percent = isNumber && isPercent(discount) ? decimal(Number(size)) : undefined;
  return percent && lessPercent(price, percent);
}

/** On what a discount is. `unclear`: it is unknown whether it applies to the product. */
export type DiscountTarget = 'product' | 'category' | 'parent category' | 'everything' | 'unclear';

/**
 * Tells on what a discount is, if a product gets it; `undefined` if it is on something else. What is not named by an id is unclear.
 * @param categories absent where they may not be read
 */
export function discountTargets(
  product: Product,
  categories: readonly Category[] | undefined,
): (discount: Discount) => DiscountTarget | undefined {
  const refs = [product.category, ...(product.categories ?? [])];
  const own = new Set(refs.flatMap((ref) => ref?.id ?? []));
  const above = categories && ancestorsOf(own, categories);
  const categoryTarget = (id: string): DiscountTarget | undefined => {
    if (own.has(id)) return 'category';
    if (!above) return 'unclear';
    return above.has(id) ? 'parent category' : undefined;
  };
  return (discount) => {
    const onProduct = idOf(discount, 'product');
    const onCategory = idOf(discount, 'category');
    if (onProduct !== undefined) return String(onProduct) === product.id ? 'product' : undefined;
    if (onCategory !== undefined) return categoryTarget(String(onCategory));
    return targetFields.some((field) => discount[field]) ? 'unclear' : 'everything';
  };
}

const targetFields = ['product', 'category', 'manufacturer', 'vendor', 'name'];

const idOf = (discount: Discount, target: string): unknown =>
  discount[`${target}Id`] ?? fieldOf(discount[target], 'id');

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
