import type { Health } from '../state/port.ts';

export interface Readiness {
  state: Health;
  /** Number of tenants; absent if callers use their own keys. */
  tenants?: number;
  /** Whether the server is shutting down and only finishes calls in flight. */
  stopping: boolean;
}

/**
 * Whether this replica should receive requests, and any problems. It stays ready without the shared state,
 * because reads still work. Readable without authentication, so it names no tenant and no address.
 */
export function readyzOf({ state, tenants, stopping }: Readiness): {
  status: 200 | 503;
  body: Record<string, unknown>;
} {
  const reasons = [
    ...(stopping ? ['the server is stopping'] : []),
    ...(tenants === 0 ? ['no tenant is served'] : []),
  ];
  if (reasons.length > 0) return { status: 503, body: { status: 'not ready', reasons } };
  if (state.ok) return { status: 200, body: { status: 'ready' } };
  return { status: 200, body: { status: 'degraded', reasons: [unavailableReason(state)] } };
}

function unavailableReason({ kind, fault, since }: Health): string {
  const what = fault === 'unwritable' ? 'written' : 'reached';
  const when = since === undefined ? '' : ` since ${since}`;
  return `the ${kind} state cannot be ${what}${when}: writes and webhooks are refused`;
}
