import { EventEmitter } from 'node:events';
import { toError } from '../values.ts';
import type { ReportEvent, Update, UpdateBus } from './port.ts';

export class LocalBus implements UpdateBus {
  readonly #updates = new EventEmitter().setMaxListeners(0);
  readonly #report: ReportEvent;
  readonly #onChange;

  /** @param onChange is called with tenant and collection before the listeners */
  constructor(report: ReportEvent = () => {}, onChange?: (tenant: string, name: string) => void) {
    this.#report = report;
    this.#onChange = onChange;
  }

  async publish(tenant: string, update: Update): Promise<void> {
    this.notify(tenant, update);
  }

  subscribe(tenant: string, listener: (update: Update | 'missed') => void): () => void {
    // An error of one listener is logged, so that the others and the publisher do not fail.
    const call = (update: Update | 'missed') => {
      try {
        listener(update);
      } catch (error) {
        const { name, message } = toError(error);
        this.#report('update not handled', { error: name, message });
      }
    };
    this.#updates.on(tenant, call);
    return () => void this.#updates.off(tenant, call);
  }

  notify(tenant: string, update: Update): void {
    if (update.collection !== undefined) this.#onChange?.(tenant, update.collection);
    this.#updates.emit(tenant, update);
  }

  /** Updates of unknown tenants were missed: notifies every listener. */
  notifyAllMissed(): void {
    for (const tenant of this.#updates.eventNames()) this.#updates.emit(tenant, 'missed');
  }
}
