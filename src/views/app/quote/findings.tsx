/** Findings of the pre-flight check. */
import { Badge } from '../shell/parts.tsx';
import type { Finding } from './data.ts';

export const aboutQuote = ({ line }: Finding): boolean => line === undefined;

interface Props {
  findings: readonly Finding[];
  /** Says of which lines they are. */
  namesLines?: boolean;
}

export function FindingList({ findings, namesLines }: Props) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings plain">
      {findings.map(({ code, severity, line, why }) => (
        <li key={`${code} ${line}`} class={severity}>
          <Badge tone={severity === 'stop' ? 'danger' : 'warning'}>
            {severity === 'stop' ? 'Must fix' : 'Review'}
          </Badge>{' '}
          {namesLines && line !== undefined && `Line ${line}: `}
          <bdi>{why ?? 'Concerns costs: see costs and margins.'}</bdi>
        </li>
      ))}
    </ul>
  );
}
