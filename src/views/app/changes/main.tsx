/** The week on one screen: what changed, how stages convert, and the deals to talk about. */
import { countsByCurrency } from '../pipeline/deals.ts';
import type { Entry } from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { type Formats, mainCurrencyOf, useFormats } from '../shell/format.ts';
import { usePanel } from '../shell/panel.tsx';
import {
  ActionButton,
  Coverage,
  Failed,
  Head,
  Notes,
  OwnerChoice,
  Refresh,
  Section,
  Select,
  shareRead,
  useCurrency,
} from '../shell/parts.tsx';
import { Scope, scopeWords } from '../shell/scope.tsx';
import { startView } from '../shell/start.tsx';
import { useAnswer, useReload, useSeen } from '../shell/use-reading.ts';
import type { Host, ViewProps } from '../shell/view.ts';
import {
  type ChangesAnswer,
  Comparison,
  comparedWords,
  differencesOf,
  Funnel,
  Movements,
  movementName,
  periods,
} from './comparison.tsx';
import { Forecast } from './forecast.tsx';
import { dealsToTalkAbout, type MovedDeal } from './talk.ts';

/** An assistant asks for a few rows, or for one group or movement; the view shows the whole. */
const everything = { by: undefined, movement: undefined, rows: 100 };

function ChangesView({ data, args, host, reload }: ViewProps<ChangesAnswer>) {
  const formats = useFormats();
  const panel = usePanel<Entry>(data);
  const open = host.canRead ? panel.open : undefined;
  const call = { ...args, ...everything };
  const read = useAnswer<ChangesAnswer>(
    host,
    'cpq_pipeline_changes',
    host.canRead ? call : undefined,
    [data],
  );
  const { answer: whole = data } = read;
  const codes = [...new Set(whole.pipeline?.flatMap(({ value }) => Object.keys(value ?? {})))];
  const { currency, choice } = useCurrency(codes.toSorted(formats.byCurrency));
  const talk = dealsToTalkAbout(whole.deals?.rows ?? []);
  const { change: reread, problem } = useReload({ reload, data });
  const change = (changed: Arguments) => void reread({ ...everything, ...changed });
  return (
    <main class="changes">
      <Head
        title="What changed in the pipeline"
        about={
          <>
            {data.compared && <p>{comparedWords(data.compared, formats)}</p>}
            <Coverage coverage={data.coverage} />
          </>
        }
        actions={
          <>
            <ActionButton
              text="Copy as text"
              busyText="Copying…"
              doneText="Copied"
              run={() =>
                copy(textOf({ ...data, pipeline: whole.pipeline ?? [] }, args, talk, formats))
              }
            />
            <Refresh host={host} reload={reload} />
          </>
        }
      >
        <Scope {...{ args, host, reload }} more={{ until: 'Until' }} />
      </Head>
      {host.canRead && <Controls {...{ args, change, host }} rows={whole.deals?.rows ?? []} />}
      <Failed reason={read.failed} retry={read.retry} {...problem} />
      {choice}
      <Section id="waterfall" title="From the opening to the closing value">
        <Comparison answer={whole} args={call} {...{ host, currency }} open={panel.open} />
      </Section>
      {talk.length > 0 && (
        <Section id="talk" title="To talk about">
          <Movements rows={talk} open={open} />
        </Section>
      )}
      {whole.stages && (
        <Section id="stages" title="Stages that deals left">
          <Funnel stages={whole.stages} moved={whole.deals?.rows ?? []} open={open} />
        </Section>
      )}
      {host.canRead && (
        <Forecast
          {...{ args, host, currency }}
          answer={data}
          today={(data.coverage?.asOf ?? '').slice(0, 'YYYY-MM-DD'.length)}
          open={panel.open}
        />
      )}
      <Notes notes={data.notes} />
      <RecordPanel panel={panel} host={host} changed={() => change({})} />
    </main>
  );
}

type Groups = { groups?: { rows: { id?: string; name?: string }[] } };

interface ControlsProps {
  args: Arguments;
  host: Host;
  rows: readonly MovedDeal[];
  change(changed: Arguments): void;
}

function Controls({ args, host, rows, change }: ControlsProps) {
  const since = typeof args.since === 'string' ? args.since : '7d';
  const own = periods.some(([value]) => value === since) ? [] : [[since, since] as const];
  // Also of those without a change.
  const call = { sections: [], by: 'owner', groups: 50 };
  const all = useAnswer<Groups>(host, 'cpq_brief_pipeline', call).answer?.groups?.rows ?? [];
  const known = all.flatMap(({ id, name }) => (id ? name : undefined));
  const owners = useSeen([...ownersOf(rows), ...known], args.owner);
  return (
    <div class="controls">
      <Select<string>
        label="Since"
        value={since}
        options={[...periods, ...own]}
        choose={(it) => change({ since: it })}
      />
      <OwnerChoice owners={owners} owner={args.owner} choose={(owner) => change({ owner })} />
    </div>
  );
}

/** A moved deal has "before → after" where its owner changed. */
const ownersOf = (rows: readonly MovedDeal[]): string[] =>
  rows.flatMap(({ owner }) => owner?.split(' → ') ?? []);

/** That of most moved deals: amounts of several currencies cannot be compared. */
const currencyOf = ({ deals }: ChangesAnswer): string | undefined =>
  mainCurrencyOf(countsByCurrency(deals?.rows ?? []));

/** The view as plain lines, to paste into a message. */
function textOf(
  data: ChangesAnswer,
  args: Arguments,
  talk: readonly MovedDeal[],
  formats: Formats,
): string {
  const { totals, changes, number } = formats;
  const steps = data.pipeline?.map(({ step, count, value }) => {
    const amounts = (step === 'opening' || step === 'closing' ? totals : changes)(value);
    return `${movementName(step)}: ${number(count)} (${amounts.join(', ') || '–'})`;
  });
  const deals = talk.map(({ name, company, movement, ...row }) =>
    [
      [name, company].filter(Boolean).join(', '),
      movement.map((it) => movementName(it)).join(', '),
      ...differencesOf({ ...row, movement }, formats),
    ].join(' · '),
  );
  return [
    data.compared && comparedWords(data.compared, formats),
    ...scopeWords(args, formats),
    ...(data.coverage?.complete === false ? [shareRead(data.coverage, formats)] : []),
    ...(steps ?? []),
    '',
    'To talk about:',
    ...deals,
  ].join('\n');
}

/** @throws Error if the host does not let views copy */
async function copy(text: string): Promise<void> {
  const written = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (written) return;
  // Works without a permission, where a person has just clicked.
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('This host does not let views copy.');
}

startView<ChangesAnswer, ChangesAnswer>({
  name: 'changes',
  tool: 'cpq_pipeline_changes',
  waiting: 'Comparing the pipeline with its history…',
  is: (data) => 'pipeline' in data,
  prepare: (data) => data,
  mainCurrency: currencyOf,
  Component: ChangesView,
});
