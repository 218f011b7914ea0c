/** The costs of a quote: read when they are turned on, dropped when they are turned off. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import type { Arguments } from '../shell/bridge.ts';
import type { Host } from '../shell/start.tsx';
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
  useEffect(() => {
    const reading = { over: false };
    setFailed('');
    setCosts(undefined);
    if (isShown)
      host
        .read<QuoteAnswer>('cpq_brief_quote', {
          ...args,
          quote: data.id ?? args.quote,
          lines: data.lines.shown,
        })
        .then((answer) => !reading.over && setCosts(costsOf(answer)))
        .catch((error: unknown) => !reading.over && setFailed(messageOf(error)));
    return () => {
      reading.over = true;
    };
  }, [isShown, data]);
  return { costs, failed, isShown, setShown };
}
