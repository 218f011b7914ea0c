import { beforeEach, describe, expect, test } from 'vitest';
import { open, type Row, serving } from '../support/hosts.ts';
import { shared } from '../support/shared.ts';
import { limit, only } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const products = Array.from({ length: 3_000 }, (_, at) => ({
  id: `p${at}`,
  name: `Product ${at}`,
  mpn: `mpn-${at}`,
  price: 5,
}));
const quotes = Array.from({ length: 60 }, (_, at) => ({
  id: `q${at}`,
  number: `Q-${at}`,
  status: 'draft',
  ...(at % 6 === 0 && { deletedAt: '2026-01-02T03:04:05Z' }),
}));
const upstream = shared(() => startUpstream({ counts: { '/contact': 1 } }));
const server = serving({ at: upstream });
const call = async (tool: string, args: unknown) => server.call(`cpq_list_${tool}`, args);
const refused = async (tool: string, args: unknown) => server.refused(`cpq_list_${tool}`, args);

beforeEach(async () => {
  const service = await upstream();
  service.reset();
  service.records['/product'] = products;
  service.records['/quote'] = quotes;
});

describe('a filter that matches nothing, of a collection that takes many requests', () => {
  test('asks back where the service may compare otherwise, without reading everything', async () => {
    const service = await upstream();
    const words = await refused('products', { filters: 'mpn:mpn-x' });
    expect(words).toMatch(/not certain that it filters by mpn.*cpq_find/);
    expect(service.requests.length).toBeLessThanOrEqual(4);
    const before = service.requests.length;
    await refused('products', { filters: 'mpn:mpn-y' });
    expect(service.requests.length).toBeLessThanOrEqual(before + 2);
  });

  test('is answered by the service where it is proven to filter by the field', async () => {
    const service = await upstream();
    service.set({
      onRequest: (_, __, { query }) => {
        const filters = query.get('filters');
        if (filters)
          query.set('filters', filters.replace('externalIdentifier:', 'mpn:').toLowerCase());
      },
    });
    service.records['/product'] = products.map((product) => ({
      ...product,
      externalIdentifier: product.mpn,
    }));
    const { records, page, data } = await call('products', { filters: 'externalIdentifier:mpn-x' });
    expect([records, page.total]).toEqual([[], 0]);
    expect(String(data.notes)).toMatch(/cpq_find/);
    expect(service.requests.length).toBeLessThanOrEqual(4);
    const found = await call('products', { filters: 'externalIdentifier:MPN-7|mpn8' });
    expect(found.records.map(({ id }) => id)).toEqual(['p7']);
    expect(found.text).toContain('finds no record with the externalIdentifier "mpn8": it may be');
  });

  test('is answered where the service finds a value of another record in another letter case', async () => {
    const service = await upstream();
    service.set({
      onRequest: (_, __, { query }) => {
        const filters = query.get('filters');
        if (filters) query.set('filters', filters.replace('HARDWARE', 'hardware'));
      },
    });
    service.records['/product'] = products.map((it) => ({ ...it, productType: 'hardware' }));
    const asked = async (filters: string) => {
      service.requests.length = 0;
      const { records, page } = await call('products', { filters });
      return [records, page.total, service.requests.length];
    };
    expect(await asked('productType:service')).toEqual([[], 0, 3]);
    expect(await asked('productType:software')).toEqual([[], 0, 1]);
  });
});

test.each([40, 2_600])(
  'a name that looks like an id is said to be read as one, and how it is found, among %d',
  async (count) => {
    const service = await upstream();
    const stage = { id: 'stage7abcdefghijkl', name: '1-Qualification' };
    service.records['/opportunity'] = Array.from({ length: count }, (_, at) => ({
      ...{ id: `deal${at}`, name: `Deal ${at}`, pipelineStage: stage },
      company: {
        id: `company${at}abcdefgh`,
        name: at === 30 ? 'ImmobilienScout24' : `Company ${at}`,
      },
    }));
    service.records['/company'] = [];
    const { call } = await open({ at: service });
    const found = async (filters: string) => {
      service.requests.length = 0;
      const { page, text } = await call('cpq_list_opportunities', { filters, size: 1 });
      expect(text).not.toContain('pipelineStage.name');
      return [page.total, /was read as an id: (\S+) finds names/.exec(text)?.[1]];
    };
    expect(await found('company:ImmobilienScout24')).toEqual([0, 'company:~ImmobilienScout24']);
    expect(service.requests.length).toBeLessThanOrEqual(4);
    expect(await found('company:~ImmobilienScout24')).toEqual([1, undefined]);
    expect(await found('company:company30abcdefgh')).toEqual([1, undefined]);
    expect(await found('stage:1-Qualification')).toEqual([0, 'stage:~1-Qualification']);
    expect(await found('stage:~1-Qualification')).toEqual([count, undefined]);
  },
);

describe('a service that knows letter case', () => {
  test('is not proven to do without by digits', async () => {
    const service = await upstream();
    service.records['/product'] = products.map((product, at) => ({
      ...product,
      mpn: at === 9 || at === 2_900 ? `SMT-${at}` : String(at),
    }));
    expect(await refused('products', { filters: 'mpn:smt-2900' })).toContain('not certain');
    expect((await call('products', { filters: 'mpn:SMT-2900' })).records).toHaveLength(1);
  });

  test.each(['Müller', 'Мегафон'])(
    'of letters beyond ASCII is proven by such: %s',
    async (name) => {
      const service = await upstream();
      const inAscii = (text: unknown) => String(text).replace(/[A-Z]/g, (one) => one.toLowerCase());
      service.set({
        onRequest: (_, __, { query }) => {
          const filters = query.get('filters');
          if (filters) query.set('filters', filters.replace(/(?<=:).*/, inAscii));
        },
      });
      // What the service compares is in small letters, as far as it knows them.
      const of = (at: number) => inAscii(at % 20 === 3 ? `${name} ${at}` : `acme ${at}`);
      service.records['/product'] = products.map((product, at) => ({ ...product, vendor: of(at) }));
      const found = async (filters: string) => (await call('products', { filters })).records;
      expect(await found('vendor:ACME 0')).toHaveLength(1);
      expect(await found('vendor:none at all')).toEqual([]);
      expect(await found(`vendor:${inAscii(name)} 2983`)).toHaveLength(1);
      const asked = { filters: `vendor:${name.toUpperCase()} 2983` };
      expect(await refused('products', asked)).toContain('not certain');
    },
  );
});

test('a record of a collection that takes many requests is found by its number without reading all', async () => {
  const service = await upstream();
  service.records['/product'] = [...products, { id: 'kit', mpn: '(8) kit' }];
  const get = { resource: 'product', id: 'mpn-7' };
  for (const [id, mpn] of [
    ['p7', 'mpn-7'],
    ['kit', '(8) kit'],
  ]) {
    const { data } = await server.call('cpq_get_record', { ...get, id: mpn });
    expect(data.record).toMatchObject({ id });
  }
  const unknown = await server.refused('cpq_get_record', { ...get, id: 'mpn-x' });
  expect(unknown).toMatch(/not certain that it filters by mpn/);
  expect(service.requests.length).toBeLessThanOrEqual(16);
});

test.each(['(none)', 'none', '(any)', '~x1', '>3', 'a|b'])(
  'a product with the number %s is found, though filters take that for more than a value',
  async (mpn) => {
    const service = await upstream();
    const others = products
      .slice(0, 60)
      .map(({ mpn: own, ...it }, at) => (at % 2 ? it : { ...it, mpn: own }));
    service.records['/product'] = [...others, { id: 'odd', name: 'Odd', mpn }];
    const { call } = await open({ at: service });
    const { data } = await call('cpq_get_record', { resource: 'product', id: mpn });
    expect(data.record).toMatchObject({ id: 'odd' });
  },
);

test('an identifier is asked for together with one that is known, so that two requests show that it is none', async () => {
  const service = await upstream();
  service.set({
    onRequest: (_, __, { query }) => {
      const filters = query.get('filters');
      if (filters) query.set('filters', filters.toLowerCase());
    },
  });
  service.records['/product'] = products.map((product, at) => ({ ...product, ean: `e${at}` }));
  const asked = async (filters: string) => {
    const before = service.requests.length;
    const { records, page, coverage } = await call('products', { filters });
    const { reason } = coverage;
    return [records.map(({ id }) => id), page.total, service.requests.length - before, reason];
  };
  expect(await asked('ean:4006381333931')).toEqual([[], 0, 2, undefined]);
  expect(await asked('ean:4006381333932')).toEqual([[], 0, 1, undefined]);
  expect(await asked('ean:E700')).toEqual([['p700'], 1, 1, undefined]);
});

test('what the service itself searched for a text is named, where nothing is found exactly', async () => {
  const notes = async (query: string) =>
    String((await server.call('cpq_find', { query, kinds: ['product'] })).data.notes);
  const words = 'The service itself searched product: it may miss';
  expect(await notes('zebra')).toContain(words);
  expect(await notes('Product 7')).not.toContain(words);
});

describe('a part of a text', () => {
  test('is found in any letter case, and never sent to the service', async () => {
    const service = await upstream();
    const asked = { filters: 'mpn:~N-299,price:5', size: 20 };
    const { records, coverage } = await call('products', asked);
    expect(coverage).toMatchObject({ complete: true, read: 11, total: 11 });
    expect(records.map(({ mpn }) => mpn)).toEqual(
      products.filter(({ mpn }) => mpn.includes('n-299')).map(({ mpn }) => mpn),
    );
    expect(service.requests.filter(({ query }) => query.get('filters')?.includes('~'))).toEqual([]);
  });
});

test.each([
  ['19" rack', ['p1']],
  ['price', []],
  ['vendor', []],
])(
  'a text is looked for in the values alone, as it is written, where the service ignores it: %s',
  async (query, ids) => {
    const { call } = await fresh({
      '/product': ['Cable', '19" rack'].map((name, at) => ({
        ...{ id: `p${at}`, name, price: 5, manufacturer: { vendor: 'Acme' } },
      })),
    });
    (await upstream()).set({ onRequest: (_, __, { query }) => query.delete('query') });
    const { records } = await call('cpq_list_products', { query });
    expect(records.map(({ id }) => id)).toEqual(ids);
  },
);

test('where the text in query finds nothing, no filter is said to be without values', async () => {
  const { data } = await call('products', { query: 'zebra', filters: 'mpn:~1' });
  expect(data.records).toEqual([]);
  expect(String(data.notes)).not.toContain('No record has');
});

test('all products of a pricing book are named, also where the service gives fewer at once', async () => {
  const service = await upstream();
  service.set({ maxSize: 10 });
  const some = products.slice(0, 25);
  service.records['/product'] = some;
  service.records['/pricing-book'] = [
    { id: 'b1', name: 'Book', products: some.map(({ id }) => ({ productId: id, price: 4 })) },
    { id: 'b2', name: 'Other', products: [{ productId: 'p3', name: 'As in the book' }] },
  ];
  // Of another server these products may be cached.
  const own = await open({ at: service });
  const fields = ['products.name'];
  const { records } = await own.call('cpq_list_pricing_books', { fields });
  expect(records[0]?.['products.name']).toEqual(some.map(({ name }) => name));
  expect(records[1]?.['products.name']).toEqual(['As in the book']);
});

test.each(['pricing_books', 'discount_groups'])(
  '%s: where there are none, nothing else is read',
  async (list) => {
    const { call } = await fresh({ '/pricing-book': [], '/quote-discount-group': [] });
    await call(`cpq_list_${list}`);
    expect((await upstream()).requests).toHaveLength(1);
  },
);

test('a range of days reads no companies but those of the pricing books', async () => {
  const book = { id: 'b', name: 'Book', validTo: '2027-01-01', companyIds: ['c7'] };
  const companies = Array.from({ length: 300 }, (_, at) => ({
    id: `c${at}`,
    name: `Company ${at}`,
  }));
  const { call } = await fresh({ '/pricing-book': [book], '/company': companies });
  const { records } = await call('cpq_list_pricing_books', { filters: 'validTo:>2026' });
  expect(records).toMatchObject([{ for: ['Company 7'] }]);
  expect(
    (await upstream()).requests.map(({ route }) => route).filter((it) => it === '/company'),
  ).toHaveLength(1);
  const named = await call('cpq_list_pricing_books', { filters: 'for:company 7' });
  expect(named.records).toHaveLength(1);
});

test('records without what is sorted by are told of where the service puts them first', async () => {
  const { call } = await fresh({
    '/product': products.map((product, at) => (at === 7 ? { ...product, ean: 'E' } : product)),
  });
  const list = (args: Row) => call('cpq_list_products', args);
  const { data } = await list({ sort: 'ean', size: 2 });
  expect(String(data.notes)).toContain('show no ean: filters ean:(any) leaves them out.');
  for (const args of [{ sort: '-ean' }, { sort: 'ean', from: 2 }])
    expect(String((await list(args)).data.notes)).not.toContain('leaves them out');
  const { records } = await list({ sort: 'ean', filters: 'ean:(any)' });
  expect(records).toMatchObject([{ id: 'p7' }]);
});

test('a page of a list that the service does not count is not said to be all of it', async () => {
  (await upstream()).set({ total: 'absent' });
  const { data, page } = await call('products', { size: 25 });
  expect(data.summary).toMatch(/25 of at least 25 products, from 0\b.* Next: .* from 25\.$/);
  expect(page.next).toBe(25);
  const beyond = await call('products', { size: 25, from: 5_000 });
  expect(beyond.records).toEqual([]);
  expect(beyond.page).not.toHaveProperty('next');
});

test('a number that no record has is not said to be without values', async () => {
  const { text } = await call('products', { filters: 'price:6,mpn:~1' });
  expect(text).toContain('No products');
  expect(text).not.toContain('No record has a value');
});

describe('deleted records', () => {
  test('are said to be counted where the service counts them', async () => {
    const { data } = await call('quotes', { size: 3 });
    expect(data.summary).toMatch(/\. 3 of 60 quotes, .* deleted:false leaves them out\./);
    const all = await call('quotes', { size: 100 });
    expect(all.data.summary).toBe(
      'Incomplete: the items of 60 quotes could not be read, such as "left out". All 60 quotes, without a known currency. 10 of the rows shown are deleted.',
    );
  });
});

describe('every list in an argument has a maximum', () => {
  test('alternatives of a filter', async () => {
    const filters = `name:${Array.from({ length: 400 }, (_, at) => at % 10).join('|')}`;
    const service = await upstream();
    expect(await refused('products', { filters })).toMatch(/100 values in all, not 400/);
    expect(service.requests).toEqual([]);
  });

  test('chosen fields, also as text', async () => {
    const fields = Array.from({ length: 101 }, (_, at) => `f${at}`);
    for (const given of [fields, JSON.stringify(fields)])
      expect(await refused('products', { fields: given })).toMatch(
        /fields may have 100 entries, not 101/,
      );
    expect(await refused('products', { fields: fields.slice(1) })).toMatch(/has the field "f1"/);
  });
});

test('fields of the entries of a list keep their places, so that each name stands beside its price', async () => {
  const service = await upstream();
  const items = [{ name: 'A' }, { name: 'B', price: 2 }, { price: 3 }];
  service.records['/quote'] = [{ id: 'q', number: 'Q', items }];
  const fields = ['items.name', 'items.price', 'items.cost'];
  const { records, text } = await call('quotes', { fields });
  const aligned = { 'items.name': ['A', 'B', null], 'items.price': [null, 2, 3] };
  expect(records).toEqual([{ id: 'q', number: 'Q', ...aligned }]);
  expect(text).not.toContain('items.cost|');
});

test('a term is found by any text that means the same, with one request', async () => {
  const service = await upstream();
  const terms = ['month', undefined, 'monthly', 'year'];
  service.records['/product'] = terms.map((term, at) => ({ id: `p${at}`, name: 'P', term }));
  const { call } = await open({ at: service });
  const { records } = await call('cpq_list_products', { filters: 'term:monthly' });
  expect(records.map(({ id }) => id)).toEqual(['p0', 'p2']);
  expect(service.requests).toHaveLength(1);
  const once = await call('cpq_list_products', { filters: 'term:one-time' });
  expect(once.records.map(({ id }) => id)).toEqual(['p1']);
});

test('a filter by category tells nothing of subcategories that cannot be read now', async () => {
  const service = await upstream();
  service.records['/product'] = [{ id: 'p', name: 'P', category: { id: 'h', name: 'Hardware' } }];
  service.set(limit({ status: { code: 429 } }, { path: '/category' }));
  const { call } = await open({ at: service });
  const { records } = await call('cpq_list_products', { filters: 'category:Hardware' });
  expect(records).toHaveLength(1);
});

const asks = Array.from({ length: 9 }, (_, at) => ({ id: `o${at}`, description: `Wifi in ${at}` }));

const tree = [
  { id: 'h', name: 'Hardware' },
  { id: 'c', name: 'Computers', parentCategoryId: 'h' },
  { id: 'l', name: 'Laptops', parentCategoryId: 'c' },
];
const ref = (id: string) => ({ company: { id, name: 'Acme' } });
const of = (values: Row) => ({ id: 'x', name: 'X', ...values });

const fresh = async (records: Readonly<Record<string, unknown>>) => {
  const service = await upstream();
  Object.assign(service.records, records);
  return open({ at: service });
};

describe('what a list tells of its filters', () => {
  test.each([
    [
      'products',
      '/product',
      'category:hardware',
      [of({ category: tree[0] }), { id: 'y', category: tree[2] }],
      '1 category below, "Laptops". ',
    ],
    ['products', '/product', 'category:Laptops', [of({ category: tree[2] })], undefined],
    [
      'products',
      '/product',
      'category:hardware,price:75',
      [of({ category: tree[0], price: 75 }), { id: 'y', category: tree[2], price: 1 }],
      undefined,
    ],
    [
      'products',
      '/product',
      'category:Computers|Hardware|Laptops',
      [of({ category: tree[2] })],
      undefined,
    ],
    [
      'products',
      '/product',
      'price:75',
      [of({ price: 0.5 }), { id: 'y', price: 1 }],
      'go from 0.5 to 1',
    ],
    [
      'opportunities',
      '/opportunity',
      'ask:wifi',
      [of({ description: 'Printers' }), ...asks],
      '9 values contain it: ask:~TEXT finds ',
    ],
    [
      'opportunities',
      '/opportunity',
      'company:acme',
      [of(ref('a')), of({ id: 'y', ...ref('b') })],
      'Several companies',
    ],
    [
      'opportunities',
      '/opportunity',
      'company:acme',
      [of(ref('a')), of({ id: 'y', ...ref('a') })],
      undefined,
    ],
    [
      'opportunities',
      '/opportunity',
      'company:acme|beta',
      [of(ref('a')), of({ id: 'y', ...ref('b') }), of({ id: 'z', company: { name: 'Beta' } })],
      undefined,
    ],
    [
      'contacts',
      '/contact',
      'deleted:>2025',
      [of({ deleted: '2026-01-02' }), of({ id: 'y' })],
      undefined,
    ],
  ] as const)('%s %s %s', async (tool, path, filters, records, told) => {
    const { call } = await fresh({ '/category': tree, [path]: records });
    const { notes } = (await call(`cpq_list_${tool}`, { filters })).data;
    if (!told) expect(String(notes)).not.toMatch(/Not included|Several companies|not in the range/);
    else expect(String(notes)).toContain(told);
  });
});

describe('a list says', () => {
  test('that a tree is cut, and what shows less', async () => {
    const tree = Array.from({ length: 900 }, (_, at) => ({ id: `c${at}`, name: `Category ${at}` }));
    const { call } = await fresh({ '/category/tree': tree });
    const { summary, notes } = (await call('cpq_get_category_tree')).data;
    expect(summary).toMatch(/^\d{3} of 900 categories\.$/);
    expect(String(notes)).toContain('Ask for a smaller depth.');
  });

  test.each([
    ['cpq_list_pricing_books', '/pricing-book', { validTo: '31.12.2026' }, '31.12.2026'],
    ['cpq_get_category_tree', '/category/tree', { name: ['Hardware'] }, 'Hardware'],
    ['cpq_list_quotes', '/quote', { status: 'archived' }, 'archived'],
    ['cpq_list_opportunities', '/opportunity', { statusId: 'archived' }, 'archived'],
  ])('%s: a value that is not understood', async (tool, path, record, value) => {
    const other = { name: 'Book', number: 'B', status: 'draft', statusId: 'open', items: asks };
    const { call } = await fresh({
      [path]: [
        { ...other, id: 'b', ...record },
        { ...other, id: 'c' },
      ],
    });
    const { summary } = (await call(tool)).data;
    expect(summary).toMatch(new RegExp(`^Incomplete: .*"[^"]*${value}`));
  });

  test('records without a value and subcategories, of those with the text only, also where the service ignores it', async () => {
    const [top, , laptops] = tree;
    const prices = [{ price: 5, category: top }, {}, { name: 'Cable', category: laptops }];
    const { call } = await fresh({
      '/category': tree,
      '/product': prices.map((each, at) => ({ id: `p${at}`, name: 'Switch', ...each })),
    });
    const onRequest = (_: number, __: unknown, { query }: { query: URLSearchParams }) =>
      query.delete('query');
    (await upstream()).set({ onRequest });
    const asked = { query: 'switch', filters: 'price:>1' };
    const { records, data } = await call('cpq_list_products', asked);
    expect(records).toMatchObject([{ id: 'p0' }]);
    expect(String(data.notes)).toContain('1 record without price');
    const ofTop = await call('cpq_list_products', { ...asked, filters: 'category:hardware' });
    expect(ofTop.records).toMatchObject([{ id: 'p0' }]);
    expect(String(ofTop.data.notes)).not.toContain('Not included');
  });

  test('currencies that cannot be read, once the companies were', async () => {
    const { call } = await fresh({
      '/company': [{ id: 'a', name: 'Acme', currency: '€' }],
      '/opportunity': [of(ref('a'))],
    });
    await call('cpq_brief_pipeline');
    expect((await call('cpq_list_opportunities')).data.summary).toMatch(
      /^Incomplete: .*currency .*"€"/,
    );
  });
});

test('a record that the list has and no route of its own is shown', async () => {
  const service = await upstream();
  service.set({ status: only({ code: 404 }, { if: ({ path }) => path.endsWith('/q7') }) });
  const { data } = await server.call('cpq_get_record', { resource: 'quote', id: 'Q-7' });
  expect(data.record).toMatchObject({ id: 'q7', number: 'Q-7' });
});

test('a single record with few values is shown', async () => {
  const service = await upstream();
  service.records['/contact'] = [
    { id: 'k1', phone: '+1 555 0100', nickname: 'Zoë', favouriteColour: 'green' },
  ];
  expect((await call('contacts', {})).records).toMatchObject([{ id: 'k1' }]);
  const { data } = await server.call('cpq_get_record', { resource: 'contact', id: 'k1' });
  expect(data.record).toMatchObject({ nickname: 'Zoë' });
});

describe('a record with many values', () => {
  const names = Array.from({ length: 9 }, (_, at) => `Name ${at}`);
  const ids = names.map((_, at) => `id-${at}`);
  const named = ids.map((id, at) => ({ id, name: names[at] }));
  const assigned = { id: 'x', name: 'Assigned', companyIds: ids };
  const products = ids.map((productId) => ({ productId, price: 1 }));

  test.each([
    ['pricing_books', '/pricing-book', 'for', assigned, names],
    ['pricing_books', '/pricing-book', 'product', { id: 'x', name: 'Book', products }, names],
    ['companies', '/company', 'labels', { id: 'x', name: 'Labelled', labels: names }, names],
    ['contacts', '/contact', 'labels', { id: 'x', lastName: 'Labelled', labels: names }, names],
    ['contacts', '/contact', 'name', { id: 'x', lastName: '2026' }, ['2026']],
    ['products', '/product', 'term', { id: 'x', term: 'month' }, ['monthly', 'months', 'MO']],
    ['contract_items', '/contract/items', 'term', { id: 'x', term: 'Annual' }, ['yearly', 'year']],
    ['contacts', '/contact', 'phone', { id: 'x', phone: '1', mobilePhone: '2' }, ['1', '2']],
    ['contacts', '/contact', 'phone', { id: 'x', phone: ' ', mobilePhone: '2' }, '2'],
    ['products', '/product', 'manufacturer', { id: 'x', manufacturer: '', vendor: 'A' }, ['A']],
    ['products', '/product', 'labels', { id: 'x', name: 'Labelled', labels: names }, names],
    ['products', '/product', 'category', { id: 'x', name: 'Sorted', categories: named }, names],
    ['products', '/product', 'categoryId', { id: 'x', name: 'Sorted', categories: named }, ids],
    ['products', '/product', 'maker', { id: 'x', name: 'Made', maker: { id: 'm' } }, ['m']],
    ['quotes', '/quote', 'companyId', { id: 'x', company: { name: 'Name 0' } }, ['id-0']],
  ] as const)('is found by each of them: %s %s %s', async (tool, path, key, record, values) => {
    const service = await upstream();
    service.records['/company'] = named;
    service.records['/product'] = named;
    service.records[path] = [
      record,
      { id: 'y', name: '2026 Other', maker: { id: null, city: 'B' } },
    ];
    const { call } = await open({ at: service });
    for (const value of values) {
      const { records } = await call(`cpq_list_${tool}`, { filters: `${key}:${value}` });
      expect([value, records.map(({ id }) => id)]).toEqual([value, ['x']]);
    }
  });
});

test.each([
  ['pricing_books', '/pricing-book'],
  ['discount_groups', '/quote-discount-group'],
] as const)(
  'companies of %s are named too where the service does not filter',
  async (tool, path) => {
    const service = await upstream();
    service.set({ onRequest: (_, __, { query }) => query.delete('filters') });
    const ids = ['a', 'b', 'c', 'd'];
    service.records['/company'] = [...'wxyz', ...ids].map((id) => ({ id, name: `Company ${id}` }));
    service.records[path] = [{ id: 'x', name: 'Assigned', companyIds: ids }];
    const { call } = await open({ at: service });
    const { records } = await call(`cpq_list_${tool}`);
    expect(records[0]?.for).toEqual(ids.map((id) => `Company ${id}`));
  },
);

test('equal records without an id are each shown', async () => {
  const service = await upstream();
  const item = { service: 'Backup', companyName: 'Acme', revenue: 5 };
  service.records['/contract/items'] = [item, item, { ...item, revenue: 7 }];
  const { page, records } = await call('contract_items', { sort: 'revenue' });
  expect([page.total, records.map(({ revenue }) => revenue)]).toEqual([3, [5, 5, 7]]);
});

test('a search that finds too many to be read says how many, and that not all were', async () => {
  const service = await upstream();
  service.set({
    onRequest: (_, { records }, { query }) => {
      records['/product'] = query.has('query') ? products.slice(9) : products;
    },
  });
  const { call } = await open({ at: service });
  const { data } = await call('cpq_find', { query: 'product', kinds: ['product'] });
  expect(data.coverage).toMatchObject({ complete: false, read: 100, total: 2_991 });
  expect(data.summary).toContain('search finds 2991');
});

test.each([
  ['deals', '/opportunity', 'cpq_brief_pipeline'],
  ['quotes', '/quote', 'cpq_brief_quotes'],
] as const)(
  'an account manager is named by the company, or by the %s read before',
  async (_, path, brief) => {
    const service = await upstream();
    const own = { id: 'n', name: 'Nora Named' };
    service.records['/company'] = [
      { id: 'c', name: 'Acme', accountManagerId: 'm' },
      { id: 'd', name: 'Beta', accountManagerId: 'n', accountManager: own },
    ];
    service.records['/opportunity'] = [];
    service.records['/quote'] = [];
    service.records[path] = [{ id: 'x', number: 'X', owner: { id: 'm', name: 'Mary Manager' } }];
    const { call } = await open({ at: service });
    await call(brief);
    const { records } = await call('cpq_list_companies');
    expect(records.map((it) => it.accountManager)).toEqual(['Mary Manager', 'Nora Named']);
  },
);
