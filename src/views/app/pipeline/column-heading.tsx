import { useFormats } from '../shell/format.ts';
import { type Column, isMonth } from './deals.ts';

/** The name of a column or group, its number of deals, and its sum in every currency. */
export function ColumnHeading({ column }: { column: Pick<Column, 'name' | 'count' | 'sum'> }) {
  const { month, number, amounts } = useFormats();
  const [first, ...others] = amounts(column.sum);
  return (
    <>
      <h3>
        <span dir="auto" class="title">
          {isMonth(column.name) ? month(column.name) : column.name}
        </span>
        <span class="count">{number(column.count)}</span>
      </h3>
      <p class="sum">
        <strong>{first ?? '–'}</strong>
        {others.map((other) => (
          <span key={other}>{other}</span>
        ))}
      </p>
    </>
  );
}
