import type { Change } from './context.ts';
import type { JsonObject, Row } from './json.ts';
import { listBare } from './read.ts';
import { opportunity, quote, type Resource } from './schema.ts';
import { makePast, makeQuotePast } from './seed/past.ts';
import type { Store } from './store.ts';

const daysKnown = 200;
const dayMs = 86_400_000;

/** How the opportunities and quotes of a tenant were on earlier days. */
export interface Past {
  /** The days that are known, oldest first; today is not one of them. */
  days(): string[];
  /** JSON text of the wire record of each opportunity at the end of that day, UTC. */
  recordsAt(day: string): string[];
  /** The same of each quote. */
  quotesAt(day: string): string[];
}

/** The past of one tenant, which is created when it is first asked for. */
export class TenantPast implements Past {
  readonly #now: () => Date;
  readonly #opportunities: Versions;
  readonly #quotes: Versions;

  /** @param open creates the tenant's data if there is none */
  constructor(tenant: string, now: () => Date, open: () => Store) {
    const wireRecords = (store: Store, resource: Resource): JsonObject[] =>
      JSON.parse(listBare(store, tenant, resource));
    this.#now = now;
    this.#opportunities = new Versions('opportunity', tenant, open, (store) =>
      makePast({
        ...sourcesOf(store, tenant),
        opportunities: wireRecords(store, opportunity),
        now: now(),
      }),
    );
    this.#quotes = new Versions('quote', tenant, open, (store) => {
      const { seed } = sourcesOf(store, tenant);
      return makeQuotePast({ seed, quotes: wireRecords(store, quote), now: now() });
    });
  }

  days(): string[] {
    const today = this.#now().getTime();
    return Array.from({ length: daysKnown }, (_, at) =>
      new Date(today - (daysKnown - at) * dayMs).toISOString().slice(0, 10),
    );
  }

  recordsAt(day: string): string[] {
    return this.#opportunities.at(day);
  }

  quotesAt(day: string): string[] {
    return this.#quotes.at(day);
  }

  /** Adds the version after a change. */
  add(change: Change): void {
    if (change.subject === 'opportunity') this.#opportunities.add(change);
    if (change.subject === 'quote') this.#quotes.add(change);
  }
}

/** The versions of the opportunities or quotes of one tenant. */
class Versions {
  readonly #kind: 'opportunity' | 'quote';
  readonly #tenant: string;
  readonly #open: () => Store;
  readonly #make: (store: Store) => Row[];

  constructor(
    kind: 'opportunity' | 'quote',
    tenant: string,
    open: () => Store,
    make: (store: Store) => Row[],
  ) {
    this.#kind = kind;
    this.#tenant = tenant;
    this.#open = open;
    this.#make = make;
  }

  at(day: string): string[] {
    const store = this.#open();
    if (!this.#areMade(store)) store.transaction(() => this.#insert(store, this.#make(store)));
    const sql = `select record from (
        select record, row_number() over (partition by ${this.#kind}Id order by at desc, rowid desc) as age
        from ${this.#kind}_version where tenant = ? and at <= ?)
      where age = 1`;
    return store.read(sql, [this.#tenant, `${day}T23:59:59.999Z`]);
  }

  /** Adds a version, if there are versions to add it to. */
  add({ id, at, record }: Change): void {
    const store = this.#open();
    if (!this.#areMade(store)) return;
    this.#insert(store, [{ [`${this.#kind}Id`]: id, at, record: JSON.stringify(record) }]);
  }

  #insert(store: Store, versions: Row[]): void {
    store.insert(`${this.#kind}_version`, this.#tenant, versions);
  }

  #areMade(store: Store): boolean {
    const sql = `select 1 from ${this.#kind}_version where tenant = ? limit 1`;
    return store.value(sql, this.#tenant) !== undefined;
  }
}

function sourcesOf(store: Store, tenant: string) {
  const read = (sql: string): JsonObject[] =>
    store.read(sql, [tenant]).map((text) => JSON.parse(text));
  const [facts] = read(
    `select json_object('seed', seed, 'profile', profile, 'probabilityScale', probabilityScale)
      from tenant where tenant = ?`,
  );
  return {
    seed: `${String(facts?.seed)}/${tenant}`,
    profile: Number(facts?.profile),
    probabilityScale: Number(facts?.probabilityScale),
    stages: read(
      `select json_object('id', id, 'name', name) from pipeline_stage
        where tenant = ? and outcome = 'open' order by position`,
    ),
    owners: read(
      `select json_object('id', id, 'name', name) from owner where tenant = ? order by rowid`,
    ),
  };
}
