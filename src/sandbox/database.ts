import { createStatements } from './schema.ts';

/** Values that SQLite binds and returns. */
export type SqlValue = string | number | bigint | null;

/** The part of a prepared statement that is used here; better-sqlite3 and libsql both have it. */
export interface Statement {
  all(...params: SqlValue[]): unknown[];
  all(named: Record<string, SqlValue>): unknown[];
  run(...params: SqlValue[]): { changes: number };
  /** Makes `all` return the first column instead of whole rows. */
  pluck(): this;
}

/** The part of the database handle that is used here; better-sqlite3 and libsql both have it. */
export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): unknown;
  close(): unknown;
}

interface DatabaseConstructor {
  new (file: string): Database;
}

/**
 * Opens the SQLite file, or a database in memory, and creates the tables that are missing.
 * @throws Error when the optional package `libsql` is not installed, or the file cannot be opened.
 */
export async function openDatabase(file = ':memory:'): Promise<Database> {
  const Constructor = await loadLibsql();
  const database = new Constructor(file);
  if (file !== ':memory:') database.exec('pragma journal_mode = wal; pragma synchronous = normal;');
  database.exec(createStatements());
  return database;
}

async function loadLibsql(): Promise<DatabaseConstructor> {
  try {
    // Its own types know one form of parameters only.
    return (await import('libsql')).default as unknown as DatabaseConstructor;
  } catch (cause) {
    throw new Error('The sandbox needs SQLite: install the optional package `libsql`.', { cause });
  }
}
