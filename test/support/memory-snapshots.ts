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
