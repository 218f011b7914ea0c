import type { BindValues, Database as Opened, Statement as Prepared } from 'node-sqlite3-wasm';
import { createStatements } from './schema.ts';

/** Values that SQLite binds and returns. */
export type SqlValue = string | number | bigint | null;

/** In the order of the question marks, or by name: each key with its colon, as in `:today`. */
type Bound = SqlValue[] | [named: Record<string, SqlValue>];

export interface Statement {
  all(...params: Bound): object[];
  run(...params: Bound): { changes: number };
}

export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  /** Has no effect when it is closed. */
  close(): void;
}

/**
 * Opens the SQLite file, or a database in memory, and creates the tables that are missing.
 * @throws Error when the optional package `node-sqlite3-wasm` is not installed, or the file cannot be opened, for
 * example because another process has it open.
 */
export async function openDatabase(file = ':memory:'): Promise<Database> {
  const { Database: Constructor } = await loadSqlite();
  const database = new Constructor(file);
  try {
    // SQLite's own knows ASCII only.
    database.function('lower', lowerCase, { deterministic: true });
    // In one transaction: a file is locked and written once, not for each statement.
    database.exec(`begin immediate; ${createStatements()} commit;`);
  } catch (cause) {
    database.close();
    if (/not a database/.test(String(cause)))
      throw new Error(`${file} is not an SQLite database. Name another file.`, { cause });
    // A killed process leaves the lock, which is a folder.
    const advice = `If no other process uses ${file}, delete the folder ${file}.lock.`;
    throw new Error(`The database cannot be written. ${advice}`, { cause });
  }
  return {
    prepare: (sql) => statementOf(database.prepare(sql)),
    exec: (sql) => database.exec(sql),
    close() {
      if (database.isOpen) database.close();
    },
  };
}

const lowerCase = (value: unknown) => (value === null ? null : String(value).toLowerCase());

const statementOf = (prepared: Prepared): Statement => ({
  all: (...params) => prepared.all(toValues(params)),
  run: (...params) => prepared.run(toValues(params)),
});

const toValues = (params: Bound): BindValues => (isNamed(params) ? params[0] : params);

const isNamed = (params: Bound): params is [named: Record<string, SqlValue>] =>
  typeof params[0] === 'object' && params[0] !== null;

async function loadSqlite(): Promise<{ Database: new (file: string) => Opened }> {
  try {
    return (await import('node-sqlite3-wasm')).default;
  } catch (cause) {
    const missing = 'The sandbox needs SQLite: install the optional package `node-sqlite3-wasm`.';
    throw new Error(missing, { cause });
  }
}
