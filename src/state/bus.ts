import { toError } from '../values.ts';
import type { ReportEvent, Update, UpdateBus } from './port.ts';

type Listener = (update: Update | 'missed') => void;

/** The update bus of one process. */
export class LocalBus implements UpdateBus {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #report: ReportEvent;

  constructor(report: ReportEvent = () => {}) {
    this.#report = report;
  }

  async publish(tenant: string, update: Update): Promise<void> {
    this.notify(tenant, update);
  }

  subscribe(tenant: string, listener: Listener): () => void {
    const all = this.#listeners.get(tenant) ?? new Set();
    this.#listeners.set(tenant, all.add(listener));
    return () => {
      all.delete(listener);
      if (all.size === 0 && this.#listeners.get(tenant) === all) this.#listeners.delete(tenant);
    };
  }

  notify(tenant: string, update: Update): void {
    for (const listener of [...(this.#listeners.get(tenant) ?? [])]) this.#call(listener, update);
  }

  /** Updates of unknown tenants were missed: notifies every listener. */
  notifyAllMissed(): void {
    const all = [...this.#listeners.values()].flatMap((listeners) => [...listeners]);
    for (const listener of all) this.#call(listener, 'missed');
  }

  /** An error of one listener is logged, so that the others and the publisher do not fail. */
  #call(listener: Listener, update: Update | 'missed'): void {
    try {
      listener(update);
    } catch (error) {
      const { name, message } = toError(error);
      this.#report('update not handled', { error: name, message });
    }
  }
}
