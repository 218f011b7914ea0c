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

/** Tells what a discount is on, for one product. */
export class DiscountTargets {
  readonly #product: Product;
  readonly #keys: CategoryKeys;
  readonly #own: ReadonlySet<string>;
  /** Absent where categories may not be read. */
  readonly #above: ReadonlySet<string> | undefined;

  constructor(product: Product, categories: readonly Category[] | undefined) {
    this.#product = product;
    this.#keys = new CategoryKeys(categories ?? []);
    this.#own = new Set(this.#keys.keysOfProduct(product));
    this.#above = categories && ancestorsOf(this.#own, categories);
  }

  /** On what the discount is, if the product gets it; `undefined` if it is on something else. */
  targetOf(discount: Discount): DiscountTarget | undefined {
    const product = target(discount.productId, discount.product);
    if (product) return this.#isProduct(product) ? 'product' : undefined;
    const category = target(discount.categoryId, discount.category);
    if (category) return this.#categoryTarget(category);
    const maker = target(undefined, discount.manufacturer ?? discount.vendor);
    if (maker) return this.#isMadeBy(maker) ? 'manufacturer' : undefined;
    return discount.name === undefined ? 'everything' : 'unclear';
  }

  #isProduct({ id, name }: Ref): boolean {
    const own = this.#product;
    return id === undefined ? normaliseName(own.name) === normaliseName(name) : own.id === id;
  }

  #categoryTarget(category: Ref): DiscountTarget | undefined {
    const key = this.#keys.keyOf(category) ?? '';
    if (this.#own.has(key)) return 'category';
    if (!this.#above) return 'unclear';
    return this.#above.has(key) ? 'parent category' : undefined;
  }

  #isMadeBy({ name, id }: Ref): boolean {
    const { manufacturer, vendor } = this.#product;
    return normalisePart(manufacturer ?? vendor) === normalisePart(name ?? id);
  }
}

/** What an entry names, by an id, a name or a nested record. */
function target(id: unknown, nested: unknown): Ref | undefined {
  const given = id ?? fieldOf(nested, 'id');
  if (typeof given === 'string' && given !== '') return { id: given };
  const name = typeof nested === 'string' ? nested : fieldOf(nested, 'name');
  return typeof name === 'string' && name !== '' ? { name } : undefined;
}

/** The ids of all categories above these. */
function ancestorsOf(
  keys: ReadonlySet<string>,
  categories: readonly Category[],
): ReadonlySet<string> {
  const parents = new Map(categories.map(({ id, parentCategoryId }) => [id, parentCategoryId]));
  const above = new Set<string>();
  for (const key of keys) {
    let parent = parents.get(key);
    while (parent && !above.has(parent)) {
      above.add(parent);
      parent = parents.get(parent);
    }
  }
  return above;
}
