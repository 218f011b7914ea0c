/** Secrets to be removed from logs while they are registered. */
export class Secrets {
  readonly #registrations = new Map<string, number>();

  /** @returns a function that unregisters them */
  register(secrets: readonly string[]): () => void {
    for (const secret of secrets) this.#count(secret, 1);
    let registered = true;
    return () => {
      if (registered) for (const secret of secrets) this.#count(secret, -1);
      registered = false;
    };
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#registrations.keys();
  }

  #count(secret: string, change: number): void {
    const count = (this.#registrations.get(secret) ?? 0) + change;
    if (count > 0) this.#registrations.set(secret, count);
    else this.#registrations.delete(secret);
  }
}
