import type { Database, SqlValue, Statement } from './database.ts';
import { explicitNulls } from './fields.ts';
import type { Json, Row } from './json.ts';
import { tables } from './schema.ts';

const STATEMENTS_KEPT = 300;
const ROWS_PER_INSERT = 400;

/** The database with cached prepared statements. */
export class Store {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** The first column of every row, as text. */
  read(sql: string, params: SqlValue[]): string[] {
    return this.#firstColumn(sql, params).map(String);
  }

  /** The first column of the first row. */
  value(sql: string, ...params: SqlValue[]): unknown {
    return this.#firstColumn(sql, params)[0];
  }

  run(sql: string, ...params: SqlValue[]): number {
    return this.#statement(sql).run(...params).changes;
  }

  /** Adds rows through JSON, so that 5 stays an integer, 12.5 a real and "12.50" a text. */
  insert(table: string, tenant: string, rows: Row[]): void {
    const columns = tables[table] ?? [];
    const sql = insertStatement(table, columns);
    const cells = rows.map((row) => columns.map((column) => cell(row, column)));
    for (let at = 0; at < cells.length; at += ROWS_PER_INSERT) {
      this.run(sql, tenant, JSON.stringify(cells.slice(at, at + ROWS_PER_INSERT)));
    }
  }

  /** Sets columns of one row; values keep their types as in `insert`. */
  update(table: string, tenant: string, id: string, values: Row): void {
    const sets = Object.keys(values).map(
      (column) => `${column} = json_extract(v.j, '$.${column}')`,
    );
    const sql = `update ${table} set ${sets.join(', ')} from (select ? as j) v
      where tenant = ? and id = ?`;
    this.run(sql, JSON.stringify(values), tenant, id);
  }

  /** Runs the work in one transaction. */
  transaction<T>(work: () => T): T {
    this.#database.exec('begin immediate');
    try {
      const result = work();
      this.#database.exec('commit');
      return result;
    } catch (error) {
      this.#database.exec('rollback');
      throw error;
    }
  }

  #firstColumn(sql: string, params: SqlValue[]): unknown[] {
    return this.#statement(sql)
      .all(...params)
      .map((row) => Object.values(row)[0]);
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    if (this.#statements.size >= STATEMENTS_KEPT) this.#statements.clear();
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function cell(row: Row, column: string): Json {
  return column === 'nulls' ? explicitNulls(row) : (row[column] ?? null);
}

function insertStatement(table: string, columns: string[]): string {
  const cells = columns.map((_, at) => `json_extract(value, '$[${at}]')`);
  return `insert into ${table} (tenant, ${columns.join(', ')})
    select ?, ${cells.join(', ')} from json_each(?)`;
}
