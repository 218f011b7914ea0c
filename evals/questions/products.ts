import type { Question } from '../question.ts';

const listed = 'coalesce(listed, 1) <> 0';
const price = 'cast(price as real)';
const cost = 'cast(cost as real)';

/** Prices of books on the day of the questions, whatever company they are for. */
const valid = `(select b.id as book, b.name as bookName, b.companyIds, b.classificationIds, e.productId, cast(e.price as real) as price
  from pricing_book b join pricing_book_product e on e.pricingBookId = b.id
  where :today between coalesce(substr(b.validFrom, 1, 10), '') and coalesce(substr(b.validTo, 1, 10), '9')
    and :today between coalesce(substr(e.validFrom, 1, 10), '') and coalesce(substr(e.validTo, 1, 10), '9')
    and e.price is not null)`;
const forEveryone = `(json_array_length(companyIds) = 0 and json_array_length(classificationIds) = 0)`;
const named = (id: string) =>
  `exists (select 1 from json_each(companyIds) j where j.value = ${id})`;
/** Whether a name is that of one record only. */
const isOnly = (table: string, name: string) =>
  `${name} in (select name from ${table} group by name having count(*) = 1)`;

/** About the catalogue, margins and special prices. */
export const productQuestions: Question[] = [
  {
    id: 'below-cost',
    ask: 'How many listed products are priced under their cost?',
    truth: `select count(*) as products from product where ${listed} and ${price} < ${cost}`,
    expect: [{ figure: 'products' }],
  },
  {
    id: 'thin-margin',
    ask: 'How many listed products with a price above 0 have a margin under 5 percent, those under cost included?',
    truth: `select count(*) as products from product where ${listed} and ${price} > 0 and (${price} - ${cost}) / ${price} < 0.05`,
    expect: [{ figure: 'products' }],
  },
  {
    id: 'free',
    ask: 'How many listed products have a price of exactly 0?',
    truth: `select count(*) as products from product where ${listed} and price is not null and ${price} = 0`,
    expect: [{ figure: 'products' }],
  },
  {
    id: 'part-number',
    about: `select id, mpn from product where ${listed} and ${price} > 100 and cost is not null and length(mpn) > 8
      and instr(mpn, '-') > 0 and lower(mpn) not in (select lower(mpn) from product where mpn is not null group by 1 having count(*) > 1)
      order by id limit 1`,
    ask: 'What do we charge and pay for part {mpn}?',
    truth: `select ${price} as price, ${cost} as cost from product where id = :id`,
    expect: [{ figure: 'price' }, { figure: 'cost' }],
  },
  {
    id: 'part-number-swapped',
    about: `select id, substr(mpn, 1, length(mpn) - 2) || substr(mpn, -1) || substr(mpn, -2, 1) as typed from product
      where ${listed} and ${price} > 100 and length(mpn) > 9 and substr(mpn, -1) <> substr(mpn, -2, 1) order by id desc limit 1`,
    ask: 'What is the price of {typed}? I may have mistyped the part number.',
    truth: `select ${price} as price from product where id = :id`,
    expect: [{ figure: 'price' }],
  },
  {
    id: 'unlisted-on-quotes',
    ask: 'How many draft or sent quotes contain a product that is no longer listed?',
    truth: `select count(distinct o.id) as quotes from offers o join lines l on l.quoteId = o.id
      join product p on p.id = l.productId where o.statusCategory in ('draft', 'sent') and p.listed = 0`,
    expect: [{ figure: 'quotes' }],
  },
  {
    id: 'book-price',
    about: `select p.id as product, p.name, p.mpn, c.id as company, c.name as companyName, b.id as book
      from pricing_book b, json_each(b.companyIds) e join company c on c.id = e.value
      join pricing_book_product bp on bp.pricingBookId = b.id join product p on p.id = bp.productId
      where (b.validFrom is null or substr(b.validFrom, 1, 10) <= :today) and (b.validTo is null or substr(b.validTo, 1, 10) >= :today)
        and bp.validFrom is null and bp.validTo is null and bp.price is not null and coalesce(p.listed, 1) <> 0 and p.mpn is not null
        and lower(p.mpn) not in (select lower(mpn) from product where mpn is not null group by 1 having count(*) > 1)
        and c.name not in (select name from company group by name having count(*) > 1)
      order by p.id, c.id limit 1`,
    ask: 'Which special price does {companyName} have for part {mpn} in a pricing book of its own?',
    truth:
      'select cast(price as real) as price from pricing_book_product where pricingBookId = :book and productId = :product',
    expect: [{ figure: 'price' }],
  },
  {
    id: 'quote-price-several',
    about: `select p.id as product, p.name as productName, c.id as company, c.name as companyName
      from ${valid} v join product p on p.id = v.productId
      join company c on c.id = (select min(id) from company where type = 'customer' and classificationId is null and ${isOnly('company', 'name')} and coalesce(deleted, '') = '')
      where ${forEveryone} and ${isOnly('product', 'p.name')}
      group by p.id having count(distinct v.price) > 1 order by p.id limit 1`,
    ask: 'I am quoting "{productName}" to {companyName}. What is the list price, and what is the lowest price of a pricing book that applies to them today?',
    truth: `select cast(p.price as real) as list, (select min(price) from ${valid}
        where productId = p.id and (${forEveryone} or ${named(':company')})) as lowest
      from product p where p.id = :product`,
    expect: [{ figure: 'list' }, { figure: 'lowest' }],
  },
  {
    id: 'quote-price-expired',
    about: `select p.id as product, p.name as productName, b.id as book, b.name as bookName,
        (select min(name) from company where type = 'customer' and ${isOnly('company', 'name')} and coalesce(deleted, '') = '') as companyName
      from pricing_book b join pricing_book_product e on e.pricingBookId = b.id join product p on p.id = e.productId
      where substr(b.validTo, 1, 10) < :today and json_array_length(b.companyIds) = 0 and json_array_length(b.classificationIds) = 0
        and p.id not in (select productId from ${valid}) and ${isOnly('product', 'p.name')} order by p.id limit 1`,
    ask: 'May I still quote {companyName} the price of "{bookName}" for "{productName}"? If not, since when is it over?',
    truth: 'select substr(validTo, 1, 10) as ended from pricing_book where id = :book',
    expect: [{ day: 'ended' }, { words: /\b(no|not|expired|ended|over)\b/i }],
  },
  {
    id: 'quote-price-discount',
    about: `select p.id as product, p.name as productName, c.id as company, c.name as companyName, g.name as groupName,
        json_extract(d.value, '$.amount') as percent
      from discount_group g, json_each(g.discounts) d, json_each(g.companyIds) m
      join company c on c.id = m.value and ${isOnly('company', 'c.name')}
      join product p on p.categoryId = json_extract(d.value, '$.categoryId') and p.price is not null
        and coalesce(p.listed, 1) <> 0 and ${isOnly('product', 'p.name')}
      where coalesce(c.deleted, '') = '' order by p.id, c.id limit 1`,
    ask: 'How many percent does the "{groupName}" take off when {companyName} buys "{productName}", and what is the list price after it?',
    truth: `select :percent as percent, cast(price as real) * (1 - :percent / 100.0) as less from product where id = :product`,
    expect: [{ figure: 'percent' }, { figure: 'less' }],
  },
  {
    id: 'books-ending',
    ask: 'Which pricing books that are valid today end within the next 60 days?',
    truth: `select name from pricing_book where (validFrom is null or substr(validFrom, 1, 10) <= :today)
      and substr(validTo, 1, 10) between :today and date(:today, '+60 days')`,
    expect: [{ name: 'name' }],
  },
  {
    id: 'top-categories',
    ask: 'What are the top-level product categories of the catalogue?',
    truth: `select name from category where parentCategoryId is null and id in (
      with recursive below(top, id) as (select id, id from category where parentCategoryId is null
        union all select below.top, c.id from category c join below on c.parentCategoryId = below.id)
      select top from below join product p on p.categoryId = below.id)`,
    expect: [{ name: 'name' }],
  },
  {
    id: 'manufacturer',
    ask: 'How many quotes do we have in draft or sent with at least one Fortinet line?',
    truth: `select count(distinct o.id) as quotes from offers o join lines l on l.quoteId = o.id
      where o.statusCategory in ('draft', 'sent') and l.manufacturer = 'Fortinet'`,
    expect: [{ figure: 'quotes' }],
  },
  {
    id: 'missing-cost',
    ask: 'How many listed products, with bundles, have no cost?',
    truth: `select count(*) as products from product where ${listed} and cost is null`,
    expect: [{ figure: 'products' }],
  },
  {
    id: 'several-categories',
    about: `select json_extract(p.categories, '$[1].name') as category from product p where ${listed}
      and json_array_length(p.categories) > 1 group by 1 order by count(*) desc, 1 limit 1`,
    ask: 'How many listed products, without bundles, are in the category "{category}"? A product can be in several categories.',
    truth: `select count(*) as products from product p where ${listed} and lower(productType) <> 'bundle'
      and (categoryId in (select id from category where name = :category)
        or exists (select 1 from json_each(p.categories) j where json_extract(j.value, '$.name') = :category))`,
    expect: [{ figure: 'products' }],
  },
  {
    id: 'book-companies',
    about: `select id, name from pricing_book where json_array_length(classificationIds) > 0 and :today <= substr(validTo, 1, 10)
      order by id limit 1`,
    ask: 'Which companies get the prices of the pricing book "{name}"? Name all of them.',
    truth: `select c.name from company c, pricing_book b, json_each(b.classificationIds) e
      where b.id = :id and c.classificationId = e.value and coalesce(c.deleted, '') = ''`,
    expect: [{ name: 'name' }],
  },
];
