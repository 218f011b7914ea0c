import { fieldOf, isObject } from '../values.ts';

export const methodOf = (message: unknown): unknown =>
  isObject(message) ? message.method : undefined;

/** The name of the called tool, for `tools/call`. */
export function toolOf(message: unknown): string | undefined {
  if (methodOf(message) !== 'tools/call') return undefined;
  const name = fieldOf(fieldOf(message, 'params'), 'name');
  return typeof name === 'string' ? name : undefined;
}
