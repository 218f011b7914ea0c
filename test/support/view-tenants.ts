/** Tenants that views are looked at with besides the usual one. */
import { addEdgeCases } from './oracle/edge-cases.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

const today = new Date().toISOString().slice(0, 10);

type Change = (run: (sql: string) => unknown, sandbox: Sandbox) => void;

/** Names that are long, written from right to left, or without a place to break; currencies that are none. */
const messy: Change = (run, { database, tenants }) => {
  for (const { name } of tenants) addEdgeCases(database, name, today);
  run(`update opportunity set name = 'שדרוג רשת המשרדים בתל אביב, 75 יחידות' where rowid % 5 = 1`);
  run(`update opportunity set name = name || ' ' || printf('%.*c', 90, 'x') where rowid % 7 = 2`);
  run(`update opportunity set onetimeRevenue = 123456789.5 where rowid % 6 = 3`);
  run(`update opportunity set onetimeRevenue = null, monthlyRevenue = null where rowid % 6 = 4`);
  run(`update company set currency = null where rowid % 3 = 0`);
  run(`update company set currency = 'Points' where rowid % 10 = 1`);
  run(`update company set name = printf('%.*c', 70, 'W') where rowid % 4 = 2`);
  run(`update quote set title = 'הצעת מחיר ' || title where rowid % 4 = 1`);
  run(`update quote_item set name = printf('%.*c', 120, 'y') where rowid % 5 = 1`);
};

const changes: Readonly<Record<string, Change>> = {
  messy,
  // Without cents, and with many digits.
  yen: (run) => {
    run(`update company set currency = 'JPY'`);
    run(`update opportunity set onetimeRevenue = round(onetimeRevenue * 150)`);
    run(`update quote_item set price = round(price * 150), setupPrice = round(setupPrice * 150)`);
  },
  empty: (run) => {
    for (const table of ['opportunity', 'quote', 'quote_item', 'contact', 'contract_item'])
      run(`delete from ${table}`);
  },
};

export const viewTenants = Object.keys(changes);

export async function startViewTenant(name: string): Promise<Sandbox> {
  const sandbox = await startSandbox();
  const { database } = sandbox;
  changes[name]?.((sql) => database.prepare(sql).run(), sandbox);
  return sandbox;
}
