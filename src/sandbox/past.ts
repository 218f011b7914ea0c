import type { JsonObject } from './json.ts';
import { listBare } from './read.ts';
import { opportunity, quote } from './schema.ts';
import { makePast, type PastSources } from './seed/past.ts';
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

type Kind = 'opportunity' | 'quote';

interface Version {
  id: string;
  /** ISO 8601, UTC. */
  at: string;
  /** JSON text of the wire record. */
  record: string;
}

/** The past of one tenant, which is created when it is first asked for, and held from then on. */
export function tenantPast(tenant: string, now: () => Date, open: () => Store): Past {
  const held: Partial<Record<Kind, Version[]>> = {};
  const recordsAt = (kind: Kind, day: string): string[] => {
    held[kind] ??= versionsOf(kind);
    const end = `${day}T23:59:59.999Z`;
    const last = new Map<string, string>();
    for (const { id, at, record } of held[kind]) if (at <= end) last.set(id, record);
    return [...last.values()];
  };
  /** The versions of each record, oldest first; makes them if there are none. */
  const versionsOf = (kind: Kind): Version[] => {
    const store = open();
    const table = `${kind}_version`;
    if (store.value(`select 1 from ${table} where tenant = ? limit 1`, tenant) === undefined) {
      const records = listBare({ store, tenant }, { opportunity, quote }[kind]);
      const versions = makePast(kind, JSON.parse(records), sourcesOf(store, tenant, now()));
      store.transaction(() => store.insert(table, tenant, versions));
    }
    const sql = `select json_object('id', ${kind}Id, 'at', at, 'record', record) from ${table}
      where tenant = ? order by ${kind}Id, at, rowid`;
    return store.read(sql, [tenant]).map((text) => JSON.parse(text));
  };
  return {
    days() {
      const today = now().getTime();
      return Array.from({ length: daysKnown }, (_, at) =>
        new Date(today - (daysKnown - at) * dayMs).toISOString().slice(0, 10),
      );
    },
    recordsAt: (day) => recordsAt('opportunity', day),
    quotesAt: (day) => recordsAt('quote', day),
  };
}

function sourcesOf(store: Store, tenant: string, now: Date): PastSources {
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
    now,
  };
}
