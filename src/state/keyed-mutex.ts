/** A mutex per name: work waits until all earlier work under the same name has ended or failed. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  runExclusive<T>(name: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(name) ?? Promise.resolve();
    const current = previous.then(work, work);
    const forget = () => {
      if (this.#last.get(name) === current) this.#last.delete(name);
    };
    this.#last.set(name, current);
    void current.then(forget, forget);
    return current;
  }
}
