import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import type { Arguments, ReadTool } from './bridge.ts';
import { useFormats } from './format.ts';
import type { Host, ViewProps } from './view.ts';

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
  retry?(): Promise<unknown>;
}

/**
 * The answer of a tool; without arguments nothing is read, or kept. It is read again whenever an input changes; until then the one
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
    if (!args) return setRead((now) => (now.answer ? {} : now));
    const start = (): Promise<unknown> =>
      host
        .read<Answer>(tool, args)
        .then((answer) => isCurrent() && setRead({ answer }))
        .catch(
          (error: unknown) => isCurrent() && setRead({ failed: messageOf(error), retry: start }),
        );
    void start();
  });
  return read;
}

/** Calls the view's tool with changed arguments; why it failed is shown, with a button to try again. */
export function useReload({ reload }: Pick<ViewProps<unknown>, 'reload'>) {
  const [problem, setProblem] = useState<{ reason: string; retry(): Promise<unknown> }>();
  const change = (args: Arguments): Promise<unknown> =>
    reload(args)
      .then(() => setProblem(undefined))
      .catch((error: unknown) =>
        setProblem({ reason: messageOf(error), retry: () => change(args) }),
      );
  return { change, problem };
}

/** Every name that was seen: with a filter by one of them, the others are in no answer. */
export function useSeen(names: readonly (string | undefined)[], chosen: unknown): string[] {
  const { compare } = useFormats();
  const seen = useRef(new Set<string>());
  for (const name of [...names, String(chosen ?? '')]) if (name) seen.current.add(name);
  return [...seen.current].sort(compare);
}
