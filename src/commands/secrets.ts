/** Secrets to be removed from logs while they are registered. */
export class Secrets {
  readonly #registrations = new Map<string, number>();

  /** @returns a function that unregisters them */
  register(secrets: readonly string[]): () => void {
    for (const secret of secrets) this.#count(secret, 1);
    let held = true;
    return () => {
      if (held) for (const secret of secrets) this.#count(secret, -1);
      held = false;
    };
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#registrations.keys();
  }

  #count(secret: string, change: number): void {
    const holders = (this.#registrations.get(secret) ?? 0) + change;
    if (holders > 0) this.#registrations.set(secret, holders);
    else this.#registrations.delete(secret);
  }
}
