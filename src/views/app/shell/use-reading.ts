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
  /** What it was read for. */
  inputs?: readonly unknown[];
  answer?: Answer;
  failed?: string;
  retry?(): Promise<unknown>;
}

/**
 * The answer of a tool; without arguments nothing is read, or kept. It is read again whenever the arguments or an input
 * change; until then the one before it stays, unless it is to other arguments.
 */
export function useAnswer<Answer extends object>(
  host: Host,
  tool: ReadTool,
  args: Arguments | undefined,
  more: readonly unknown[] = [],
): ReadAnswer<Answer> {
  const [read, setRead] = useState<ReadAnswer<Answer>>({});
  const asked = args && JSON.stringify(args);
  const inputs = [asked, ...more];
  useReading(inputs, (isCurrent) => {
    if (!args) return setRead((now) => (now.answer ? {} : now));
    const start = (): Promise<unknown> =>
      host
        .read<Answer & { summary?: string; filter?: string }>(tool, args)
        .then((answer) => {
          // A filter that several records fit is asked back, with them in place of rows.
          if (answer.filter !== undefined) throw new Error(answer.summary);
          return isCurrent() && setRead({ inputs, answer });
        })
        .catch(
          (error: unknown) =>
            isCurrent() && setRead({ inputs, failed: messageOf(error), retry: start }),
        );
    void start();
  });
  return read.inputs?.[0] === asked ? read : {};
}

/** Calls the view's tool with changed arguments; why it failed is shown until there is an answer, with a button to try again. */
export function useReload({ reload, data }: Pick<ViewProps<unknown>, 'reload' | 'data'>) {
  const [problem, setProblem] = useState<{ reason: string; retry(): Promise<unknown> }>();
  useEffect(() => setProblem(undefined), [data]);
  const change = (args: Arguments): Promise<unknown> =>
    reload(args).catch((error: unknown) =>
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
