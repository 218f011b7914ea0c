import type { Health } from '../state/port.ts';

export interface Readiness {
  state: Health;
  /** How many tenants are served; absent where callers bring their own. */
  tenants?: number;
  /** Whether calls under way are only being brought to their end. */
  stopping: boolean;
}

/**
 * Whether requests should be sent here now, and what stands against it or is not as it should be. Without
 * the shared state reads go on: to send callers off would make an outage of it. Anyone may ask, so it
 * names no tenant and no address.
 */
export function readyzOf({ state, tenants, stopping }: Readiness): {
  status: 200 | 503;
  body: Record<string, unknown>;
} {
  const against = [
    ...(stopping ? ['the server is stopping'] : []),
    ...(tenants === 0 ? ['no tenant is served'] : []),
  ];
  if (against.length > 0) return { status: 503, body: { status: 'not ready', reasons: against } };
  if (state.ok) return { status: 200, body: { status: 'ready' } };
  return { status: 200, body: { status: 'degraded', reasons: [unavailableReason(state)] } };
}

function unavailableReason({ kind, fault, since }: Health): string {
  const what = fault === 'unwritable' ? 'written' : 'reached';
  const when = since === undefined ? '' : ` since ${since}`;
  return `the ${kind} state cannot be ${what}${when}: nothing is written, and no webhook is taken`;
}
