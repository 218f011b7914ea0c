import { EventEmitter } from 'node:events';
import { toError } from '../values.ts';
import type { ReportEvent, Update } from './port.ts';

/** @param onChange is called with tenant and collection before the listeners */
export function localBus(
  report: ReportEvent = () => {},
  onChange?: (tenant: string, name: string) => void,
) {
  const updates = new EventEmitter().setMaxListeners(0);
  function notify(tenant: string, update: Update): void {
    if (update.collection !== undefined) onChange?.(tenant, update.collection);
    updates.emit(tenant, update);
  }
  return {
    notify,
    publish: async (tenant: string, update: Update): Promise<void> => notify(tenant, update),
    subscribe(tenant: string, listener: (update: Update | 'missed') => void): () => void {
      // An error of one listener is logged, so that the others and the publisher do not fail.
      const call = (update: Update | 'missed') => {
        try {
          listener(update);
        } catch (error) {
          const { name, message } = toError(error);
          report('update not handled', { error: name, message });
        }
      };
      updates.on(tenant, call);
      return () => void updates.off(tenant, call);
    },
    /** Updates of unknown tenants were missed: notifies every listener. */
    notifyAllMissed(): void {
      for (const tenant of updates.eventNames()) updates.emit(tenant, 'missed');
    },
  };
}
