/** The two copies of a quote: one that a customer may have, and one with everything. */
import { useState } from 'preact/hooks';
import { useFormats } from './format.ts';
import { ActionButton } from './parts.tsx';
import type { Host } from './view.ts';

interface Props {
  host: Host;
  /** Of the file. */
  name: string;
  /** What must be fixed before a customer may have it. */
  stops: number;
  /** Reads what the copy lacks. */
  prepare(): Promise<void>;
  /** How many lines could not be read. */
  lacks(): number;
  /** Whether something that an internal copy shows is being read. */
  waits(): boolean;
}

type Copy = 'customer' | 'internal';

const waitMs = 100;
const maxWaits = 200;

export function PrintButtons({ host, name, stops, prepare, lacks, waits }: Props) {
  const { counted } = useFormats();
  const [asked, setAsked] = useState(false);
  const [refused, setRefused] = useState('');
  const make = async (copy: Copy) => {
    await prepare();
    // What was read is drawn first.
    for (let at = 0; at === 0 || (waits() && at < maxWaits); at += 1)
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (copy === 'internal' && waits())
      throw new Error('Costs and margins could not be read, so this would be no whole copy.');
    if (copy === 'customer' && lacks() > 0)
      throw new Error(
        `${counted(lacks(), 'line')} cannot be read here, so this would be no whole copy.`,
      );
    if (host.can('downloadFile')) await host.save(`${name}.html`, 'text/html', pageOf(copy));
    else if (!print(copy)) setRefused('This host lets views neither print nor save a file.');
    setAsked(false);
  };
  if (refused) return <p role="alert">{refused}</p>;
  const verb = host.can('downloadFile') ? 'Save' : 'Print';
  const busyText = 'Preparing…';
  if (asked)
    return (
      <span class="actions" role="alert">
        {`Must be fixed first: ${stops}. The copy says that it is a draft.`}
        <ActionButton text={`${verb} as a draft`} {...{ busyText }} run={() => make('customer')} />
        <button type="button" onClick={() => setAsked(false)}>
          Cancel
        </button>
      </span>
    );
  return (
    <>
      <ActionButton
        text={`${verb} for the customer`}
        busyText={busyText}
        run={stops > 0 ? async () => setAsked(true) : () => make('customer')}
      />
      <ActionButton
        text={`${verb} internal copy`}
        busyText={busyText}
        run={() => make('internal')}
      />
    </>
  );
}

/**
 * Prints the page; what is internal only if that was asked for, so that the browser's own print leaves it out.
 * @returns whether the host lets views print
 */
function print(copy: Copy): boolean {
  const { dataset } = document.documentElement;
  let started = false;
  const start = () => {
    started = true;
  };
  window.addEventListener('beforeprint', start, { once: true });
  window.addEventListener('afterprint', () => delete dataset.print, { once: true });
  dataset.print = copy;
  window.print();
  window.removeEventListener('beforeprint', start);
  if (!started) delete dataset.print;
  return started;
}

/** The page as it would be printed, as a file of its own: without scripts, and without what the copy leaves out. */
function pageOf(copy: Copy): string {
  const main = document.querySelector('main')?.cloneNode(true) as HTMLElement;
  const left = copy === 'customer' ? '.internal' : '.customer';
  for (const part of main.querySelectorAll(`button, .controls, .actions, .hidden, ${left}`))
    part.remove();
  for (const part of main.querySelectorAll('.print-only, .internal'))
    part.classList.remove('print-only', 'internal');
  const style = document.querySelector('style')?.textContent ?? '';
  return `<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>Quote</title><style>${style}</style><body>${main.outerHTML}</body></html>`;
}
