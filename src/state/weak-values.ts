/** Objects by name, each kept as long as somebody else uses it. */
export class WeakValues<T extends object> {
  readonly #references = new Map<string, WeakRef<T>>();

  getOrCreate(name: string, create: () => T): T {
    const known = this.#references.get(name)?.deref();
    if (known) return known;
    for (const [other, reference] of this.#references)
      if (!reference.deref()) this.#references.delete(other);
    const created = create();
    this.#references.set(name, new WeakRef(created));
    return created;
  }
}
