/** Tenants that views are looked at with besides the usual one. */
import { addEdgeCases } from './oracle/edge-cases.ts';
import type { Sandbox } from './sandbox.ts';

const today = new Date().toISOString().slice(0, 10);

/** How the data of each differs from the usual one. */
export const viewTenants: Readonly<Record<string, (sandbox: Sandbox) => void>> = {
  /** Names that are long, written from right to left, or without a place to break; currencies that are none. */
  messy: ({ database, tenants }) => {
    for (const { name } of tenants) addEdgeCases(database, name, today);
    database.exec(`
      update opportunity set name = 'שדרוג רשת המשרדים בתל אביב, 75 יחידות' where rowid % 5 = 1;
      update opportunity set name = name || ' ' || printf('%.*c', 90, 'x') where rowid % 7 = 2;
      update opportunity set onetimeRevenue = 123456789.5 where rowid % 6 = 3;
      update opportunity set onetimeRevenue = null, monthlyRevenue = null where rowid % 6 = 4;
      update company set currency = null where rowid % 3 = 0;
      update company set currency = 'Points' where rowid % 10 = 1;
      update company set name = printf('%.*c', 70, 'W') where rowid % 4 = 2;
      update quote set title = 'הצעת מחיר ' || title where rowid % 4 = 1;
      update quote_item set name = printf('%.*c', 120, 'y') where rowid % 5 = 1`);
  },
  // Without cents, and with many digits.
  yen: ({ database }) =>
    database.exec(`
      update company set currency = 'JPY';
      update opportunity set onetimeRevenue = round(onetimeRevenue * 150);
      update quote_item set price = round(price * 150), setupPrice = round(setupPrice * 150)`),
  empty: ({ database }) => {
    for (const table of ['opportunity', 'quote', 'quote_item', 'contact', 'contract_item'])
      database.exec(`delete from ${table}`);
  },
};
