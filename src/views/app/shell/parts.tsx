/** Components that all views share. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import { madeUpNote } from '../../made-up-note.ts';
import { isWebLink, type ReadTool } from './bridge.ts';
import { useFormats } from './format.ts';
import type { Host, ViewProps } from './start.tsx';

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

/** How much of the data an answer covers, and its age. Always visible. */
export function Coverage({ coverage }: { coverage: CoverageData | undefined }) {
  const { number, time } = useFormats();
  if (!coverage) return null;
  const { complete, read, total, asOf, reason } = coverage;
  const share = complete
    ? `all ${number(total)} records read`
    : `only ${number(read)} of ${number(total)} records read${reason ? `: ${reason}` : ''}`;
  return (
    <p class={complete ? 'coverage' : 'coverage partial'}>
      <span class="dot" aria-hidden="true" />
      <span>
        As of <time dateTime={asOf}>{time(asOf)}</time>; {share}
      </span>
    </p>
  );
}

export interface FigureProps {
  label: string;
  /** The first stands out; further ones, such as those of other currencies, are below it. */
  values: readonly string[];
  more?: ComponentChildren;
  tone?: 'danger' | 'warning' | 'good' | undefined;
}

export function Figure({ label, values: [first, ...others], more, tone }: FigureProps) {
  return (
    <div class={tone ? `figure ${tone}` : 'figure'}>
      <dt>{label}</dt>
      <dd>
        <span class="value">{first ?? '–'}</span>
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

interface SegmentsProps<Value extends string> {
  label: string;
  options: readonly (readonly [value: Value, text: string])[];
  value: Value;
  choose(value: Value): void;
}

/** A choice of a few options, as native radio buttons for keyboards and screen readers. */
export function Segments<Value extends string>(props: SegmentsProps<Value>) {
  const { label, options, value, choose } = props;
  const name = label.replaceAll(' ', '-').toLowerCase();
  return (
    <fieldset class="segments">
      <legend>{label}</legend>
      <div>
        {options.map(([option, text]) => (
          <label key={option}>
            <input
              type="radio"
              name={name}
              value={option}
              checked={option === value}
              onChange={() => choose(option)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SwitchProps {
  text: string;
  on: boolean;
  set(on: boolean): void;
}

export function Switch({ text, on, set }: SwitchProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a native checkbox reports its own state
        role="switch"
        checked={on}
        onChange={(event) => set(event.currentTarget.checked)}
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

/** Reads the answer again, where the host lets views call tools. */
export function Refresh({ host, reload }: Pick<ViewProps<unknown>, 'host' | 'reload'>) {
  if (!host.canRead) return null;
  return (
    <ActionButton text="Refresh" busyText="Reading…" doneText="Up to date" run={() => reload()} />
  );
}

interface AskProps {
  host: Host;
  text: string;
  question(): string;
  primary?: boolean;
}

/** Adds a question to the conversation, where the host allows it. */
export function Ask({ host, text, question, primary = false }: AskProps) {
  if (!host.canAsk) return null;
  const run = () => host.ask(question());
  return (
    <ActionButton text={text} busyText="Asking…" doneText="Asked" run={run} primary={primary} />
  );
}

/** A question about a record, by its id only: its name comes from records and must not act as the person's instruction. */
export const questionAbout = (
  what: string,
  { id = '' }: { id?: string },
  question: string,
  tool: ReadTool,
): string =>
  `About the ${what} with the id ${id.replace(/[^\w-]/g, '').slice(0, 64)}: ${question} Read it with ${tool}.`;

/** Opens the record in the service, and says where that is: links come from records. */
export function OpenLink({ host, link }: { host: Host; link: string | undefined }) {
  if (!host.canOpen || link === undefined || !isWebLink(link)) return null;
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

export function Notes({ notes = [] }: { notes: readonly string[] | undefined }) {
  const shown = notes.filter((note) => note !== madeUpNote);
  if (shown.length === 0) return null;
  return (
    <section class="notes" aria-label="Notes">
      <ul>
        {shown.map((note) => (
          <li key={note}>
            <bdi>{note}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** By status of a quote, in lower case. */
export const statusTones: Readonly<Record<string, 'good' | 'danger'>> = {
  approved: 'good',
  declined: 'danger',
  expired: 'danger',
};

interface BadgeProps {
  tone?: 'danger' | 'warning' | 'good' | 'plain' | undefined;
  children: ComponentChildren;
}

export function Badge({ tone = 'plain', children }: BadgeProps) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
