import type { ChangeCall, Consent, Proposal } from '../../src/changes/consent.ts';
import { localState } from '../../src/state/files/local.ts';
import type { State } from '../../src/state/port.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { openWriter, type WriterOptions } from './consent.ts';
import type { Row } from './hosts.ts';
import { closing, newFolder } from './shared.ts';
import type { Upstream } from './upstream/behaviour.ts';
import { startUpstream } from './upstream/upstream.ts';

export interface Records {
  company?: Row[];
  contact?: Row[];
  opportunity?: Row[];
}

/** A service with exactly these records, and a tenant that reads each of them anew. */
export async function tenantOver(
  { company = [], contact = [], opportunity = [] }: Records,
  options: WriterOptions = {},
): Promise<{ tenant: Tenant; upstream: Upstream }> {
  const upstream = closing(await startUpstream({ counts: {} }));
  const records = { '/company': company, '/contact': contact, '/opportunity': opportunity };
  Object.assign(upstream.records, structuredClone(records));
  const { tenant } = await openWriter(
    { baseUrl: upstream.url, key: 'any' },
    { ...options, tenant: { freshMs: 0, limits: {} } },
  );
  return { tenant, upstream };
}

/** A state with this journal of changes, to which a write adds its entries. */
export const stateWith = (entries: Row[], damaged = 0): State => ({
  ...localState(newFolder()),
  journal: () => ({
    read: async () => ({ entries, damaged }),
    append: async (entry) => void entries.push(entry),
  }),
});

/** A call in which a person gives this answer to every proposal, which is recorded. */
export function callWith(
  answer: Consent = { outcome: 'declined' },
): ChangeCall & { asked: Proposal[] } {
  const asked: Proposal[] = [];
  return {
    signal: new AbortController().signal,
    deadline: Date.now() + 60_000,
    client: 'tests',
    progress: () => {},
    asked,
    consent: async (proposal) => {
      asked.push(proposal);
      return answer;
    },
  };
}
