import type { SnapshotStore } from '../../src/state/port.ts';

export function memoryStore(): SnapshotStore {
  const values = new Map<string, Buffer>();
  return {
    names: async () => [...values.keys()].sort(),
    read: async (name) => values.get(name),
    write: async (name, value) => void values.set(name, value),
    remove: async (names) => {
      for (const name of names) values.delete(name);
    },
  };
}

/** Calls `before` before each operation of the store, with the name that is read, if one is. */
export const interceptedStore = (
  store: SnapshotStore,
  before: (read?: string) => void | Promise<void>,
): SnapshotStore => ({
  async names() {
    await before();
    return store.names();
  },
  async read(name) {
    await before(name);
    return store.read(name);
  },
  async write(name, value) {
    await before();
    return store.write(name, value);
  },
  async remove(names) {
    await before();
    return store.remove(names);
  },
});
