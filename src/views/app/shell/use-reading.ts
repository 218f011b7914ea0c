import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import type { Arguments, ReadTool } from './bridge.ts';
import type { Host } from './start.tsx';

/** Reads whenever an input changes. `isCurrent` turns false when a later reading begins or the component is removed. */
export function useReading(
  inputs: readonly unknown[],
  read: (isCurrent: () => boolean) => void,
): void {
  useEffect(() => {
    let current = true;
    read(() => current);
    return () => {
      current = false;
    };
  }, inputs);
}

export interface ReadAnswer<Answer> {
  answer?: Answer;
  failed?: string;
}

/**
 * The answer of a tool; without arguments nothing is read. It is read again whenever an input changes; until then the one
 * before it stays.
 */
export function useAnswer<Answer extends object>(
  host: Host,
  tool: ReadTool,
  args: Arguments | undefined,
  inputs: readonly unknown[],
): ReadAnswer<Answer> {
  const [read, setRead] = useState<ReadAnswer<Answer>>({});
  useReading(inputs, (isCurrent) => {
    if (!args) return;
    host
      .read<Answer>(tool, args)
      .then((answer) => isCurrent() && setRead({ answer }))
      .catch((error: unknown) => isCurrent() && setRead({ failed: messageOf(error) }));
  });
  return read;
}
