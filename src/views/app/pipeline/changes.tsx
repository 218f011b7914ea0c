/** What changed, in the view of the pipeline. */
import { useState } from 'preact/hooks';
import {
  type ChangesAnswer,
  Comparison,
  comparedWords,
  Funnel,
  periods,
} from '../changes/comparison.tsx';
import type { Open } from '../records/entries.ts';
import type { Arguments } from '../shell/bridge.ts';
import { useFormats } from '../shell/format.ts';
import { Failed, Notes, Select } from '../shell/parts.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import { scopeOf } from './scope.tsx';

interface Props {
  args: Arguments;
  host: Host;
  /** The answer of the view's tool. */
  answer: object;
  currency: string;
  /** Says that a search in the view does not narrow these figures. */
  isSearched: boolean;
  open: Open;
}

export function Changes({ args, host, currency, answer: shown, isSearched, open }: Props) {
  const formats = useFormats();
  const [since, setSince] = useState<(typeof periods)[number][0]>('7d');
  const call = { ...scopeOf(args), since, rows: 1 };
  const { answer, failed, retry } = useAnswer<ChangesAnswer>(host, 'cpq_pipeline_changes', call, [
    shown,
    since,
  ]);
  const compared = answer?.compared;
  return (
    <section class="panel changes" aria-labelledby="changes">
      <div class="head">
        <div>
          <h2 id="changes">What changed</h2>
          {compared && <p class="about">{comparedWords(compared, formats)}</p>}
          {isSearched && <p class="about">Of all deals: the search does not narrow this part.</p>}
        </div>
        <Select label="Since" value={since} options={periods} choose={(it) => setSince(it)} />
      </div>
      {failed && <Failed reason={failed} retry={retry} />}
      {!answer && !failed && <p class="about">Comparing with the history…</p>}
      {answer && !answer.pipeline && <p>{answer.summary}</p>}
      {answer?.pipeline && <Comparison {...{ answer, host, currency, open }} args={call} />}
      {answer?.stages && (
        <details>
          <summary>Conversion and days by stage</summary>
          <Funnel stages={answer.stages} />
        </details>
      )}
      <Notes notes={answer?.notes} />
    </section>
  );
}
