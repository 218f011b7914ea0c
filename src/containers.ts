// Helpers for maps and arrays. Imports nothing, so every module may use it.

/** Sets an entry as the latest of a map, and deletes the oldest one if there are more than `max`. */
export function setLatest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/** Removes the first entries of a list, as long as they pass, and returns them. */
export function shiftWhile<T>(list: T[], passes: (entry: T) => boolean): T[] {
  const end = list.findIndex((entry) => !passes(entry));
  return list.splice(0, end === -1 ? list.length : end);
}
