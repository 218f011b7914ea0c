/** Asks for a change of an opportunity: the server asks the person, in the host's form or here. Nothing else writes. */
import { useState } from 'preact/hooks';
import { Change } from '../change/change.tsx';
import { type ChangeData, changeOf } from '../change/data.ts';
import type { Arguments } from '../shell/bridge.ts';
import { ActionButton, Select } from '../shell/parts.tsx';
import type { Host } from '../shell/view.ts';

interface Props {
  id: string;
  host: Host;
  closes: string | undefined;
  stage: string | undefined;
  stages: readonly string[];
  changed(): void;
}

export function MoveDeal({ id, host, closes = '', stage = '', stages, changed }: Props) {
  const [day, setDay] = useState(closes);
  const [chosen, setChosen] = useState(stage);
  const [data, setData] = useState<ChangeData>();
  const [isOver, setOver] = useState(false);
  const ask = async (change: Arguments) => {
    const args = { opportunity_id: id, ...change };
    const asked = changeOf(await host.call('cpq_upsert_opportunity', args));
    setData(asked);
    settled(asked.question ? 'moved' : asked.answer.outcome);
  };
  // A record that was changed meanwhile is asked about again.
  const settled = (outcome: ChangeData['answer']['outcome']) => {
    setOver(outcome !== 'moved');
    if (outcome === 'written') changed();
  };
  if (data)
    return (
      <>
        <Change key={data.question?.secret ?? data.text} {...{ data, host, settled }} />
        {isOver && (
          <button type="button" onClick={() => setData(undefined)}>
            Another change
          </button>
        )}
      </>
    );
  return (
    <details class="move">
      <summary>Change this opportunity</summary>
      <p class="about">You are shown the exact difference first; nothing is written before.</p>
      <div class="controls">
        <label class="field">
          <span>Expected close</span>
          <input
            type="date"
            value={day}
            onInput={({ currentTarget }) => setDay(currentTarget.value)}
          />
        </label>
        {day !== '' && day !== closes && (
          <ActionButton
            text="Move close date"
            busyText="Asking…"
            run={() => ask({ expected_close_date: day })}
          />
        )}
        {stages.length > 0 && (
          <Select
            label="Stage"
            value={chosen}
            options={[...new Set([stage, ...stages])].map((name) => [name, name])}
            choose={setChosen}
          />
        )}
        {chosen !== '' && chosen !== stage && (
          <ActionButton text="Change stage" busyText="Asking…" run={() => ask({ stage: chosen })} />
        )}
      </div>
    </details>
  );
}
