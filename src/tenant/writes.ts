import type { Call, CallContext } from '../service/call.ts';
import type { Opportunity } from '../service/records/records.ts';
import type { Journal, State } from '../state/port.ts';
import { type Grant, requireGrant, writeGrant } from './grants.ts';
import type { SharedTenantState, WriteRules } from './shared-state.ts';

/** What changes of opportunities need of a tenant. */
export class Writes {
  readonly rules: WriteRules;
  readonly journal: Journal;
  /** What makes and checks tokens of consent. */
  readonly tokens: Pick<State, 'secret' | 'claim'>;
  readonly #grants: ReadonlySet<Grant>;
  readonly #shared: SharedTenantState;

  constructor(shared: SharedTenantState, grants: ReadonlySet<Grant>) {
    const { writeRules, state } = shared.options;
    this.rules = writeRules;
    this.journal = state.journal(shared.namespace);
    this.tokens = state;
    this.#grants = grants;
    this.#shared = shared;
  }

  /**
   * Creates or changes an opportunity.
   * @throws NotGranted, ApiError
   */
  async upsert(
    externalId: string,
    fields: Record<string, unknown>,
    call: Call,
  ): Promise<Opportunity> {
    requireGrant(this.#grants, writeGrant);
    return this.#shared.client.upsertOpportunity(externalId, fields, call);
  }

  /** An opportunity as the service sends it. @throws NotGranted, ApiError */
  async raw(id: string, call: CallContext): Promise<Record<string, unknown>> {
    requireGrant(this.#grants, 'opportunity:read');
    return this.#shared.client.getRaw('opportunity', 'id', id, call);
  }

  /** Runs one write at a time, in all processes. */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const { options, namespace } = this.#shared;
    return options.state.runExclusive(`write ${namespace}`, work);
  }

  /** Requests that are left in the budget of the tenant. */
  async remainingRequests(): Promise<number> {
    return (await this.#shared.budget.peek()).remaining;
  }

  /** What was learnt about writes and searches of opportunities, by name; `undefined` if it is unknown. */
  learnt(name: string): boolean | undefined {
    return this.#shared.pages.traits('opportunity').honoured[name];
  }

  learn(name: string, value: boolean): void {
    this.#shared.pages.learnHonoured('opportunity', name, value);
  }
}
