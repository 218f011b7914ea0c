import type { Change } from './context.ts';
import type { JsonObject } from './json.ts';
import { listBare } from './read.ts';
import { opportunity } from './schema.ts';
import { makePast } from './seed/past.ts';
import type { Store } from './store.ts';

const daysKnown = 200;
const dayMs = 86_400_000;

/** How the opportunities of a tenant were on earlier days. */
export interface Past {
  /** The days that are known, oldest first; today is not one of them. */
  days(): string[];
  /** JSON text of the wire record of each opportunity at the end of that day, UTC. */
  recordsAt(day: string): string[];
}

/** The versions of the opportunities of one tenant, which are created when they are first asked for. */
export class OpportunityPast implements Past {
  readonly #tenant: string;
  readonly #now: () => Date;
  readonly #open: () => Store;

  /** @param open creates the tenant's data if there is none */
  constructor(tenant: string, now: () => Date, open: () => Store) {
    this.#tenant = tenant;
    this.#now = now;
    this.#open = open;
  }

  days(): string[] {
    const today = this.#now().getTime();
    return Array.from({ length: daysKnown }, (_, at) =>
      new Date(today - (daysKnown - at) * dayMs).toISOString().slice(0, 10),
    );
  }

  recordsAt(day: string): string[] {
    const store = this.#store();
    const sql = `select record from (
        select record, row_number() over (partition by opportunityId order by at desc, rowid desc) as age
        from opportunity_version where tenant = ? and at <= ?)
      where age = 1`;
    return store.read(sql, [this.#tenant, `${day}T23:59:59.999Z`]);
  }

  /** Adds a version, if there are versions to add it to. */
  add({ id, at, record }: Change): void {
    const store = this.#open();
    if (!this.#isMade(store)) return;
    store.insert('opportunity_version', this.#tenant, [
      { opportunityId: id, at, record: JSON.stringify(record) },
    ]);
  }

  #store(): Store {
    const store = this.#open();
    if (!this.#isMade(store)) this.#make(store);
    return store;
  }

  #isMade = (store: Store): boolean =>
    store.value('select 1 from opportunity_version where tenant = ? limit 1', this.#tenant) !==
    undefined;

  #make(store: Store): void {
    const [facts] = this.#read(
      store,
      `select json_object('seed', seed, 'profile', profile, 'probabilityScale', probabilityScale)
        from tenant where tenant = ?`,
    );
    const versions = makePast({
      seed: `${String(facts?.seed)}/${this.#tenant}`,
      profile: Number(facts?.profile),
      probabilityScale: Number(facts?.probabilityScale),
      stages: this.#read(
        store,
        `select json_object('id', id, 'name', name) from pipeline_stage
          where tenant = ? and outcome = 'open' order by position`,
      ),
      owners: this.#read(
        store,
        `select json_object('id', id, 'name', name) from owner where tenant = ? order by rowid`,
      ),
      opportunities: JSON.parse(listBare(store, this.#tenant, opportunity)),
      now: this.#now(),
    });
    store.transaction(() => store.insert('opportunity_version', this.#tenant, versions));
  }

  #read = (store: Store, sql: string): JsonObject[] =>
    store.read(sql, [this.#tenant]).map((text) => JSON.parse(text));
}
