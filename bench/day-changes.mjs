// What the questions of a working day are about, and what other people change in the meantime.

/** Numbers from 0 to 1, the same in every run. */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What the questions are about, of a tenant as `query` reads it. */
export async function subjectsOf(query) {
  const rows = await query(
    `select q.number, c.name as company, c.id as companyId, i.mpn, k.phone, d.id as deal,
      d.externalIdentifier as external, w.name as owner, k.firstName || ' ' || k.lastName as person
    from quote q join company c on c.id = q.companyId
    join quote_item i on i.quoteId = q.id and i.mpn in (select mpn from product group by mpn having count(*) = 1)
    join contact k on k.companyId = c.id and k.phone is not null and coalesce(k.deleted, '') = ''
    join opportunity d on d.companyId = c.id and d.statusId = 'open' and d.externalIdentifier is not null
    join owner w on w.id = d.ownerId and w.name in (select name from owner group by name having count(*) = 1)
    where coalesce(q.deletedAt, '') = '' and coalesce(c.deleted, '') = '' and coalesce(d.deletedAt, '') = ''
      and length(i.mpn) > 8 and length(c.name) > 14
      and c.name in (select name from company group by name having count(*) = 1)
    group by c.id order by c.id limit 400`,
  );
  if (rows.length === 0) throw new Error('no subject for questions');
  return rows;
}

/** What others change: the table, the change of a record, the time of a deletion. Most changes are of deals. */
const deals = ['opportunity', 'onetimeRevenue = coalesce(onetimeRevenue, 0) + 100', 'deletedAt'];
const quotes = ['quote', "title = coalesce(title, '') || '.'", 'deletedAt'];
const contacts = ['contact', "jobTitle = 'Buyer'", 'deleted'];
const companies = ['company', "website = 'https://' || id || '.example'", 'deleted'];
const products = ['product', 'price = coalesce(price, 0) + 1'];
const weighted = [
  ...Array(9).fill(deals),
  ...Array(4).fill(quotes),
  ...Array(3).fill(contacts),
  ...[companies, companies, products, products],
];

/** A change of a record, of 25 a deletion and of 12 a new record. `number` names it. */
export async function change(query, random, time, number) {
  const [table, set, deletion] = weighted[Math.floor(random() * weighted.length)];
  const at = new Date(time).toISOString();
  const [{ count }] = await query(`select count(*) as count from ${table}`);
  const row = `(select rowid from ${table} limit 1 offset ${Math.floor(random() * count)})`;
  const kind = random();
  if (kind < 1 / 12 && table !== 'quote') {
    const columns = await query(`select name from pragma_table_info('${table}')`);
    const own = { id: `'day${number}'`, createdAt: `'${at}'`, updatedAt: `'${at}'` };
    const values = columns.map(({ name }) => own[name] ?? (/^external/.test(name) ? 'null' : name));
    await query(`insert into ${table} select ${values} from ${table} where rowid = ${row}`);
  } else {
    const isDeleted = kind > 24 / 25 && deletion !== undefined;
    const changed = isDeleted ? `${deletion} = '${at}'` : set;
    await query(`update ${table} set ${changed}, updatedAt = '${at}' where rowid = ${row}`);
  }
}
