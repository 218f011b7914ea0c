/** The deals as cards in columns; on a narrow page, the columns are sections that open. */
import { useState } from 'preact/hooks';
import { type Amounts, useFormats } from '../shell/format.ts';
import { useNarrow } from '../shell/use-narrow.ts';
import { Card } from './card.tsx';
import { type BoardSettings, type Column, inOrder, maxAmounts } from './deals.ts';
import { ColumnHeading } from './groups.tsx';

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
  const title = titles[settings.by];
  const deals = columns.flatMap((column) => column.deals);
  const maxAmount = maxAmounts(deals, settings.measure);
  const shown = columns.map((column) => (
    <BoardColumn key={column.key} {...{ ...props, column, maxAmount, isNarrow }} />
  ));
  return (
    <section aria-labelledby="board" class="board-section">
      <h2 id="board">{title}</h2>
      {isNarrow ? (
        <div class="board narrow">{shown}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable
        <section class="board" tabIndex={0} aria-label={`${title}, columns`} onKeyDown={moveFocus}>
          {shown}
        </section>
      )}
    </section>
  );
}

/** The arrow keys lead to the next card in the column, or to the card at the same place of the next column. */
function moveFocus(event: KeyboardEvent): void {
  const { key, target } = event;
  const card = target instanceof Element && target.closest<HTMLElement>('.card');
  if (!card || !/^Arrow/.test(key)) return;
  const columnsOf = [...document.querySelectorAll('.board > .column')].map((column) => [
    ...column.querySelectorAll<HTMLElement>('.card'),
  ]);
  const filled = columnsOf.filter(({ length }) => length > 0);
  const column = filled.findIndex((cards) => cards.includes(card));
  const row = filled[column]?.indexOf(card) ?? 0;
  const isTurned = document.dir === 'rtl';
  const across = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  const down = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  const cards = filled[column + (isTurned ? -across : across)];
  cards?.[Math.min(row + down, cards.length - 1)]?.focus();
  event.preventDefault();
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
  const { settings, selected } = props;
  const [pages, setPages] = useState(1);
  const perPage = isNarrow ? cardsPerPage.narrow : cardsPerPage.wide;
  // The second click of a long column shows far more of it than the first.
  const cards = perPage * (2 ** pages - 1);
  const sorted = inOrder(column.deals, settings.order, settings.measure);
  const remaining = sorted.length - cards;
  const showMore = ({ currentTarget }: Event) => {
    const last =
      currentTarget instanceof Element && currentTarget.previousElementSibling?.lastElementChild;
    // The last click removes the button, which has the focus.
    if (last && remaining <= perPage * 2 ** pages) last.querySelector('button')?.focus();
    setPages(pages + 1);
  };
  const Frame = isNarrow ? 'details' : 'div';
  const heading = <ColumnHeading column={column} />;
  return (
    <Frame class="column" data-column={column.name}>
      {isNarrow ? <summary>{heading}</summary> : heading}
      <ul class="cards plain">
        {sorted.slice(0, cards).map((deal) => (
          <li key={deal.id}>
            <Card
              {...{ ...props, deal }}
              isSelected={deal.id !== undefined && deal.id === selected}
            />
          </li>
        ))}
      </ul>
      {remaining > 0 && (
        <button type="button" class="more" onClick={showMore}>
          {`Show more (${number(remaining)})`}
          <span class="hidden"> in {column.name.slice(0, 100)}</span>
        </button>
      )}
    </Frame>
  );
}
