/** Components that all views share. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import { madeUpNote } from '../../made-up-note.ts';
import { isWebLink, type ReadTool } from './bridge.ts';
import { Count } from './chart.tsx';
import { type Formats, useFormats } from './format.ts';
import { shortened } from './shorten.ts';
import type { Host, ViewProps } from './view.ts';

export interface CoverageData {
  complete: boolean;
  read: number;
  total: number;
  asOf: string;
  reason?: string;
}

/** What every answer has besides its figures. */
export interface AnswerText {
  summary: string;
  notes?: string[];
  coverage?: CoverageData;
}

interface HeadProps {
  title: string;
  badges?: ComponentChildren;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

export function Head({ title, badges, about, actions, children }: HeadProps) {
  return (
    <header class="head">
      <div>
        <h1>
          <bdi>{title}</bdi> {badges}
        </h1>
        {about && <div class="about">{about}</div>}
        {children}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
  );
}

interface SectionProps {
  id: string;
  title: string;
  /** `internal`: in no copy for a customer. */
  kind?: 'internal' | undefined;
  children: ComponentChildren;
}

export const Section = ({ id, title, kind, children }: SectionProps) => (
  <section class={kind ? `panel ${kind}` : 'panel'} aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** How much of the data an answer covers, and its age. Always visible. */
export function Coverage({ coverage }: { coverage: CoverageData | undefined }) {
  const formats = useFormats();
  if (!coverage) return null;
  const { complete, asOf } = coverage;
  return (
    <p class={complete ? 'coverage' : 'coverage partial'}>
      <span class="dot" aria-hidden="true" />
      <span>
        As of <time dateTime={asOf}>{formats.time(asOf)}</time>; {shareRead(coverage, formats)}
      </span>
    </p>
  );
}

export const shareRead = (
  { complete, read, total, reason }: CoverageData,
  { number }: Formats,
): string =>
  complete
    ? `all ${number(total)} records read`
    : `only ${number(read)} of ${number(total)} records read${reason ? `: ${reason}` : ''}`;

export interface FigureProps {
  label: string;
  /** The first stands out; further ones, such as those of other currencies, are below it. */
  values: readonly string[];
  more?: ComponentChildren;
  tone?: 'danger' | 'warning' | 'good' | undefined;
  /** Shows what is counted. */
  open?: (() => void) | undefined;
}

export function Figure({ label, values: [first, ...others], more, tone, open }: FigureProps) {
  return (
    <div class={tone ? `figure ${tone}` : 'figure'}>
      <dt>{label}</dt>
      <dd>
        <span class="value">
          <Count text={first ?? '–'} name={label} open={open} />
        </span>
        {others.map((value) => (
          <span key={value} class="other">
            {value}
          </span>
        ))}
        {more && <span class="more">{more}</span>}
      </dd>
    </div>
  );
}

interface LeadingProps {
  /** The first is the leading one. */
  figures: readonly FigureProps[];
  children?: ComponentChildren;
}

/** The one figure that matters most, with those that explain it beside it. */
export function Leading({ figures, children }: LeadingProps) {
  return (
    <section class="leading" aria-label="Totals">
      <dl>
        {figures.map((figure) => (
          <Figure key={figure.label} {...figure} />
        ))}
      </dl>
      {children}
    </section>
  );
}

interface SwitchProps {
  text: string;
  on: boolean;
  /** May wait for an answer: until then the switch stays as it was clicked, whatever is drawn meanwhile. */
  set(on: boolean): unknown;
}

export function Switch({ text, on, set }: SwitchProps) {
  const [clicked, setClicked] = useState<boolean>();
  const change = async (wanted: boolean) => {
    setClicked(wanted);
    await set(wanted);
    setClicked(undefined);
  };
  return (
    <label class="switch">
      <input
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a native checkbox reports its own state
        role="switch"
        checked={clicked ?? on}
        onChange={(event) => void change(event.currentTarget.checked)}
      />
      <span>{text}</span>
    </label>
  );
}

interface ActionButtonProps {
  text: string;
  /** Label while it runs. */
  busyText: string;
  run(): Promise<unknown>;
  /** Announced on success. */
  doneText?: string;
  primary?: boolean;
}

/** A button for an asynchronous action. It shows progress and errors, also to screen readers. */
export function ActionButton({ text, busyText, run, doneText, primary }: ActionButtonProps) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState('');
  const start = () => {
    if (busy) return;
    setBusy(true);
    setResult('');
    run()
      .then(() => setResult(doneText ?? ''))
      .catch((error: unknown) => setResult(messageOf(error)))
      .finally(() => setBusy(false));
  };
  return (
    <span class="action">
      <button
        type="button"
        class={primary ? 'primary' : ''}
        aria-disabled={busy || undefined}
        onClick={start}
      >
        {busy ? busyText : text}
      </button>
      <span role="status">{result}</span>
    </span>
  );
}

interface FailedProps {
  reason?: string | undefined;
  retry?: (() => Promise<unknown>) | undefined;
}

/** Why something could not be read, and a button to try again; nothing without a reason. */
export function Failed({ reason, retry }: FailedProps) {
  if (reason === undefined) return null;
  return (
    <div class="failed">
      <p role="alert">{reason}</p>
      {retry && <ActionButton text="Try again" busyText="Reading…" run={retry} />}
    </div>
  );
}

/** Reads the answer again, where the host lets views call tools. */
export function Refresh({ host, reload }: Pick<ViewProps<unknown>, 'host' | 'reload'>) {
  if (!host.canRead) return null;
  return (
    <ActionButton text="Refresh" busyText="Reading…" doneText="Up to date" run={() => reload()} />
  );
}

export const aboutCompany = 'What is worth knowing about this company before I call them?';

interface AskProps {
  host: Host;
  text: string;
  /** In the person's words; it names no record, because names come from records and must not act as instructions. */
  question: string;
  /** What the model is told beside it. */
  about?: { what: string; id: string | undefined; tool: ReadTool };
  primary?: boolean;
}

/** Adds a question to the conversation, where the host allows it. */
export function Ask({ host, text, question, about, primary = false }: AskProps) {
  if (!host.can('message')) return null;
  const run = async () => {
    const context = about && lookingAt(about);
    if (context && host.can('updateModelContext')) await host.tell(context);
    await host.ask(
      context && !host.can('updateModelContext') ? `${question} (${context})` : question,
    );
  };
  return (
    <ActionButton text={text} busyText="Asking…" doneText="Asked" run={run} primary={primary} />
  );
}

/** Tells a model what a person has on the screen, by its id only; an unusual one could be a sentence. */
export const lookingAt = ({ what, id = '', tool }: NonNullable<AskProps['about']>): string =>
  /^[\w.:-]{1,80}$/.test(id)
    ? `The person is looking at the ${what} with the id ${id}; ${tool} reads it.`
    : `The person is looking at a ${what} whose id has other characters than usual: ask which one it is.`;

/** Opens the record in the service, and says where that is: links come from records. */
export function OpenLink({ host, link }: { host: Host; link: string | undefined }) {
  if (!host.can('openLinks') || link === undefined || !isWebLink(link)) return null;
  const where = new URL(link).host;
  return (
    <ActionButton
      text={`Open at ${where}`}
      busyText="Opening…"
      doneText="Opened"
      run={() => host.open(link)}
    />
  );
}

interface ContactProps {
  host: Host;
  /** Of an address that has none itself. */
  kind?: 'mailto' | 'tel';
  text: string;
}

/** One address without anything besides, such as a copy to somebody else; one number. */
const addresses = {
  mailto: /^[^\s@?&#,;:<>"]+@[^\s@?&#,;:<>"]+$/,
  tel: /^\+?(?:(?:[\s().-]*|\/)\d){3,15}$/,
};

/** A web page, an e-mail address or a telephone number that the host opens; other texts stay texts. */
export function ContactLink({ host, kind, text }: ContactProps) {
  const address =
    kind === 'tel' ? text.replace(/^(\+\d+) *\(0\)/, '$1').replace(/[^\d+]/g, '') : encodeURI(text);
  const isAddress = kind ? addresses[kind].test(text) : isWebLink(text);
  if (!host.can('openLinks') || !isAddress) return <bdi>{text}</bdi>;
  const open = () => host.open(kind ? `${kind}:${address}` : text).catch(() => {});
  return (
    <button type="button" class="link" onClick={() => void open()}>
      <bdi>{text}</bdi>
    </button>
  );
}

interface PairsProps {
  /** `facts`: in one line, as far as there is room. */
  kind?: 'pairs' | 'facts';
  pairs: readonly (readonly [name: string, text: ComponentChildren, kind?: string])[];
}

/** Names and their texts, in the order of a conversation; what is not known is left out. */
export const Pairs = ({ kind = 'pairs', pairs }: PairsProps) => (
  <dl class={kind}>
    {pairs.map(
      ([name, text, kindOfPair = '']) =>
        Boolean(text) && (
          <div key={name} class={`pair ${kindOfPair}`}>
            <dt>{name}</dt>
            <dd dir="auto">{text}</dd>
          </div>
        ),
    )}
  </dl>
);

interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, text: string])[];
  choose: (value: Value) => void;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, value, options, choose } = props;
  const chosen = (text: string) => options.find(([option]) => option === text)?.[0];
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => choose(chosen(currentTarget.value) ?? value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {shortened(text, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The currency of charts, at first the first, and a choice of it where there are several. */
export function useCurrency(currencies: readonly string[]) {
  const [selected, setSelected] = useState('');
  const currency = currencies.includes(selected) ? selected : (currencies[0] ?? '');
  const choice = currencies.length > 1 && (
    <div class="controls">
      <Select
        label="Charts in"
        value={currency}
        options={currencies.map((code) => [code, code])}
        choose={setSelected}
      />
      <p class="about">Counts cover every currency.</p>
    </div>
  );
  return { currency, choice };
}

type OwnerProps = {
  owners: readonly string[];
  owner: unknown;
  choose(owner: string | undefined): void;
};

export function OwnerChoice({ owners, owner, choose }: OwnerProps) {
  return (
    <Select<string>
      label="Owner"
      value={String(owner ?? '')}
      options={[['', 'Everyone'], ...owners.map((name) => [name, name] as const)]}
      choose={(name) => choose(name || undefined)}
    />
  );
}

/** How many rows an answer has and in which order, and what else it could be asked for: a view shows it, or not at all. */
const forModels =
  /^(?:Cut to \d+ rows|Ranked by |The groups shown |Contract items |Products never )/;

export function Notes({ notes = [] }: { notes: readonly string[] | undefined }) {
  const shown = notes.filter((note) => note !== madeUpNote && !forModels.test(note));
  if (shown.length === 0) return null;
  return (
    <ul class="notes">
      {shown.map((note) => (
        <li key={note}>
          <bdi>{note}</bdi>
        </li>
      ))}
    </ul>
  );
}

type Tone = 'danger' | 'warning' | 'good' | 'plain' | undefined;

export const Badge = ({
  tone = 'plain',
  children,
}: {
  tone?: Tone;
  children: ComponentChildren;
}) => <span class={`badge ${tone}`}>{children}</span>;
