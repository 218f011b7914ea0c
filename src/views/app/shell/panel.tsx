/** The one panel of all views: beside what it is about, on a phone below it. The page behind stays where it was. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A stack of what is open: what is opened inside the panel leads back to what was there. */
export interface Opener<Entry> {
  entry: Entry | undefined;
  open(entry: Entry): void;
  /** Shows another in the same place. */
  replace(entry: Entry): void;
  /** Absent where nothing was open before. */
  back: (() => void) | undefined;
  close(): void;
  /** The button that opened it. */
  origin: HTMLElement | null;
}

/** @param data what is shown: with other data, the rows that a figure of before counted are closed */
export function usePanel<Entry extends { kind: string }>(data: object): Opener<Entry> {
  const [stack, setStack] = useState<readonly Entry[]>([]);
  const origin = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => setStack((now) => now.filter(({ kind }) => kind !== 'rows')), [data]);
  // What was drawn before may call it later, so the stack of now is asked for.
  const open = (entry: Entry) => {
    const active = document.activeElement;
    const isInside = Boolean(active?.closest('.side-panel'));
    if (!isInside && active instanceof HTMLElement) origin.current = active;
    setStack((now) => (isInside ? [...now, entry] : [entry]));
  };
  const close = () => {
    setStack([]);
    origin.current?.focus({ preventScroll: true });
  };
  return {
    entry: stack.at(-1),
    open,
    close,
    replace: (entry) => setStack((now) => [...now.slice(0, -1), entry]),
    back: stack.length > 1 ? () => setStack((now) => now.slice(0, -1)) : undefined,
    origin: origin.current,
  };
}

interface Props {
  title: string;
  panel: Omit<Opener<unknown>, 'open' | 'replace' | 'entry'>;
  previous?: (() => void) | undefined;
  next?: (() => void) | undefined;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ title, panel, previous, next, actions, children }: Props) {
  const { back, close, origin } = panel;
  const section = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  usePlace(section, origin);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [title]);
  const onKeyDown = ({ key, target }: KeyboardEvent) => {
    if (key === 'Escape') (back ?? close)();
    if (target instanceof Element && target.closest('input, select, textarea, .scroll')) return;
    const [toLeft, toRight] = document.dir === 'rtl' ? [next, previous] : [previous, next];
    if (key === 'ArrowLeft') toLeft?.();
    if (key === 'ArrowRight') toRight?.();
  };
  const button = (text: string, act: (() => void) | undefined) =>
    act && (
      <button type="button" onClick={act}>
        {text}
      </button>
    );
  return (
    <section
      ref={section}
      class="panel side-panel"
      aria-labelledby="side-panel"
      onKeyDown={onKeyDown}
    >
      <div class="actions">
        {button('Back', back)}
        {button('Previous', previous)}
        {button('Next', next)}
        {button('Close', close)}
      </div>
      <h2 id="side-panel" ref={heading} tabIndex={-1} dir="auto">
        {title}
      </h2>
      {children}
      {actions && <div class="actions">{actions}</div>}
    </section>
  );
}

/** Beside the button that opened it, on the side with more room; the page grows where the panel is longer. */
function usePlace(section: { current: HTMLElement | null }, origin: HTMLElement | null): void {
  useLayoutEffect(() => {
    const panel = section.current;
    if (!panel) return;
    const isNarrow = matchMedia('(max-width: 37.5em)').matches;
    const box = origin?.getBoundingClientRect() ?? new DOMRect();
    const top = window.scrollY + (isNarrow ? box.bottom + 4 : box.top);
    const isRight = box.left + box.width / 2 > document.documentElement.clientWidth / 2;
    panel.style.top = `${Math.max(8, top)}px`;
    panel.classList.toggle('at-left', isRight);
    const observer = new ResizeObserver(() => {
      document.body.style.minHeight = `${panel.offsetTop + panel.offsetHeight + 16}px`;
    });
    observer.observe(panel);
    return () => {
      observer.disconnect();
      document.body.style.minHeight = '';
    };
  }, [origin]);
}
