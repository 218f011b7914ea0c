/** Removes the first entries of a list, as long as they pass, and returns them. */
export function shiftWhile<T>(list: T[], passes: (entry: T) => boolean): T[] {
  const end = list.findIndex((entry) => !passes(entry));
  return list.splice(0, end === -1 ? list.length : end);
}
