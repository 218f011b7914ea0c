/** Findings of the pre-flight check. Screens are shared, so findings that reveal a cost are hidden at first. */
import type { FindingCode, PreflightFinding } from '../../../briefs/preflight-finding.ts';
import { Badge } from '../shell/parts.tsx';

const costFindings: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'missing_cost',
  'price_under_cost',
  'negative_margin',
  'zero_margin',
  'setup_cost_without_price',
]);

export const aboutQuote = ({ line }: PreflightFinding): boolean => line === undefined;

interface Props {
  findings: readonly PreflightFinding[];
  margins: boolean;
}

export function FindingList({ findings, margins }: Props) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings plain">
      {findings.map(({ code, severity, why }) => (
        <li key={code} class={severity}>
          <Badge tone={severity === 'stop' ? 'danger' : 'warning'}>
            {severity === 'stop' ? 'Must fix' : 'Review'}
          </Badge>{' '}
          <bdi>
            {margins || !costFindings.has(code) ? why : 'Concerns costs: see costs and margins.'}
          </bdi>
        </li>
      ))}
    </ul>
  );
}
