/** A mutex per name: work waits until all earlier work under the same name has ended or failed. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  runExclusive<T>(name: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(name) ?? Promise.resolve();
    const current = previous.then(work, work);
    const settled = current.then(
      () => {},
      () => {},
    );
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return current;
  }
}
