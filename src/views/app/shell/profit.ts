/** Costs and profits: in no answer that a view asks for until a person turns them on. */
import type { Arguments } from './bridge.ts';

const extrasOf = ({ show }: Arguments): unknown[] => (Array.isArray(show) ? show : []);

/** Whether the arguments of a tool ask for profits. */
export const showsProfit = (args: Arguments): boolean => extrasOf(args).includes('profit');

/** The arguments with or without profits; nothing else of `show` changes. */
export function withProfit(args: Arguments, on: boolean): Arguments {
  const others = extrasOf(args).filter((extra) => extra !== 'profit');
  const show = on ? [...others, 'profit'] : others;
  return { show: show.length > 0 ? show : undefined };
}

export const profitSwitch = 'Show costs and margins';
