/** Findings of the pre-flight check. */
import { Badge } from '../shell/parts.tsx';
import type { Finding } from './data.ts';

export const aboutQuote = ({ line }: Finding): boolean => line === undefined;

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings plain">
      {findings.map(({ code, severity, why }) => (
        <li key={code} class={severity}>
          <Badge tone={severity === 'stop' ? 'danger' : 'warning'}>
            {severity === 'stop' ? 'Must fix' : 'Review'}
          </Badge>{' '}
          <bdi>{why ?? 'Concerns costs: see costs and margins.'}</bdi>
        </li>
      ))}
    </ul>
  );
}
