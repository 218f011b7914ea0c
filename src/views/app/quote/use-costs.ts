/** The costs of a quote: read when they are turned on, dropped when they are turned off. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import type { Arguments } from '../shell/bridge.ts';
import type { Host } from '../shell/start.tsx';
import { useReading } from '../shell/use-reading.ts';
import { type Costs, costsOf, type QuoteAnswer, type QuoteData } from './data.ts';

interface ShownCosts {
  costs: Costs | undefined;
  failed: string;
  isShown: boolean;
  setShown(isShown: boolean): void;
}

export function useCosts(host: Host, data: QuoteData, args: Arguments): ShownCosts {
  const [isShown, setShown] = useState(false);
  const [costs, setCosts] = useState<Costs>();
  const [failed, setFailed] = useState('');
  useReading([isShown, data], (isCurrent) => {
    setFailed('');
    setCosts(undefined);
    if (!isShown) return;
    const call = { ...args, quote: data.id ?? args.quote, lines: data.lines.shown };
    host
      .read<QuoteAnswer>('cpq_brief_quote', call)
      .then((answer) => isCurrent() && setCosts(costsOf(answer)))
      .catch((error: unknown) => isCurrent() && setFailed(messageOf(error)));
  });
  return { costs, failed, isShown, setShown };
}
