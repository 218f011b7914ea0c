/** The deals as cards in columns; on a narrow page, the columns are sections that open. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Amounts, useFormats } from '../shell/format.ts';
import { useNarrow } from '../shell/use-narrow.ts';
import { Card } from './card.tsx';
import { ColumnHeading } from './column-heading.tsx';
import { type BoardSettings, type Column, inOrder, maxAmounts } from './deals.ts';
import { useScroll } from './use-scroll.ts';

export interface BoardProps {
  columns: readonly Column[];
  settings: BoardSettings;
  /** Id of the opportunity whose details are open. */
  selected: string | undefined;
  select(id: string): void;
}

const titles: Record<BoardSettings['by'], string> = {
  stage: 'Board by stage',
  owner: 'Board by owner',
  month: 'Board by closing month',
};

export function Board(props: BoardProps) {
  const { columns, settings } = props;
  const isNarrow = useNarrow();
  const scroll = useScroll(columns.length);
  const title = titles[settings.by];
  const deals = columns.flatMap((column) => column.deals);
  const maxAmount = maxAmounts(deals, settings.measure);
  const shown = columns.map((column) => (
    <BoardColumn key={column.key} {...{ ...props, column, maxAmount, isNarrow }} />
  ));
  return (
    <section aria-labelledby="board" class="board-section">
      <div class="head">
        <h2 id="board">{title}</h2>
        {scroll.overflows && <ScrollButtons {...scroll} />}
      </div>
      {isNarrow ? (
        <div class="board narrow">{shown}</div>
      ) : (
        <div class={`board-frame ${scroll.hidden}`}>
          {/* Scrolls sideways, so it has to be reachable by keyboard. */}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable */}
          <section class="board" ref={scroll.ref} tabIndex={0} aria-label={`${title}, columns`}>
            {shown}
          </section>
        </div>
      )}
    </section>
  );
}

/** Show that there are more columns, and scroll to them. */
function ScrollButtons({ hidden, scrollBy }: ReturnType<typeof useScroll>) {
  const button = (text: string, label: string, direction: -1 | 1, isEnd: boolean) => (
    <button
      type="button"
      class="arrow"
      aria-label={label}
      aria-disabled={isEnd || undefined}
      onClick={() => scrollBy(direction)}
    >
      <span aria-hidden="true">{text}</span>
    </button>
  );
  return (
    <div class="actions internal">
      {button('‹', 'Columns before', -1, !hidden.includes('before'))}
      {button('›', 'Columns after', 1, !hidden.includes('after'))}
    </div>
  );
}

interface ColumnProps extends Omit<BoardProps, 'columns'> {
  column: Column;
  maxAmount: Amounts;
  isNarrow: boolean;
}

/** Cards shown per column until "Show more". */
const cardsPerPage = { wide: 6, narrow: 3 };

function BoardColumn({ column, isNarrow, ...props }: ColumnProps) {
  const { number } = useFormats();
  const { settings } = props;
  const [pages, setPages] = useState(1);
  const perPage = isNarrow ? cardsPerPage.narrow : cardsPerPage.wide;
  // The second click of a long column shows far more of it than the first.
  const cards = perPage * (2 ** pages - 1);
  const sorted = inOrder(column.deals, settings.order, settings.measure);
  const remaining = sorted.length - cards;
  const content = (
    <>
      <ul class="cards plain">
        {sorted.slice(0, cards).map((deal) => (
          <li key={deal.id}>
            <Card {...{ ...props, deal }} isSelected={isSelected(deal.id, props.selected)} />
          </li>
        ))}
      </ul>
      {remaining > 0 && (
        <button type="button" class="more" onClick={() => setPages(pages + 1)}>
          {`Show more (${number(remaining)})`}
          <span class="hidden"> in {column.name.slice(0, 100)}</span>
        </button>
      )}
    </>
  );
  const heading = <ColumnHeading column={column} />;
  return (
    <ColumnFrame column={column} {...{ isNarrow, heading }}>
      {content}
    </ColumnFrame>
  );
}

const isSelected = (id: string | undefined, selected: string | undefined): boolean =>
  id !== undefined && id === selected;

interface FrameProps {
  column: Column;
  isNarrow: boolean;
  heading: ComponentChildren;
  children: ComponentChildren;
}

function ColumnFrame({ column, isNarrow, heading, children }: FrameProps) {
  if (!isNarrow) {
    return (
      <div class="column" data-column={column.name}>
        {heading}
        {children}
      </div>
    );
  }
  return (
    <details class="column" data-column={column.name}>
      <summary>{heading}</summary>
      {children}
    </details>
  );
}
