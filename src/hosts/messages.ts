import { isObject } from '../api/envelope.ts';

/** The message in a text; undefined where it is not JSON, which the SDK says. */
export function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What one message asks for. */
export const methodOf = (message: unknown): unknown =>
  isObject(message) ? message.method : undefined;

/** The tool that is called, if one is. */
export function toolOf(message: unknown): string | undefined {
  if (methodOf(message) !== 'tools/call') return undefined;
  const { params } = message as { params?: unknown };
  return isObject(params) && typeof params.name === 'string' ? params.name : undefined;
}
