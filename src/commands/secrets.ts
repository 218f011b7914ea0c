/** What must not show in a log, for as long as somebody holds it. */
export class Secrets {
  readonly #holders = new Map<string, number>();

  /** @returns what lets go of them */
  hold(secrets: readonly string[]): () => void {
    for (const secret of secrets) this.#count(secret, 1);
    let held = true;
    return () => {
      if (held) for (const secret of secrets) this.#count(secret, -1);
      held = false;
    };
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#holders.keys();
  }

  #count(secret: string, change: number): void {
    const holders = (this.#holders.get(secret) ?? 0) + change;
    if (holders > 0) this.#holders.set(secret, holders);
    else this.#holders.delete(secret);
  }
}
