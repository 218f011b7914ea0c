import type { Health } from '../state/port.ts';

export interface Readiness {
  state: Health;
  tenants: {
    /** All that are configured. */
    configured: number;
    /** Those of them that can be called. */
    open: number;
  };
  /** Whether calls under way are only being brought to their end. */
  stopping: boolean;
}

/**
 * Whether requests should be sent here now, and what stands against it. Anyone may ask, so it names no
 * tenant and no address.
 */
export function readyzOf(readiness: Readiness): {
  status: 200 | 503;
  body: Record<string, unknown>;
} {
  const reasons = reasonsOf(readiness);
  if (reasons.length > 0) return { status: 503, body: { status: 'not ready', reasons } };
  return { status: 200, body: { status: 'ready' } };
}

function reasonsOf({ state, tenants: { configured, open }, stopping }: Readiness): string[] {
  const since = state.since === undefined ? '' : ` since ${state.since}`;
  return [
    ...(stopping ? ['the server is stopping'] : []),
    ...(state.ok ? [] : [`the ${state.kind} state cannot be used${since}`]),
    ...(configured === 0 ? ['no tenant is configured'] : []),
    ...(open < configured ? [`${configured - open} of ${configured} tenants are not open`] : []),
  ];
}
