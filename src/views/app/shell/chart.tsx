/**
 * The charts of all views, as tables with a bar in every row. Tables print, scale, follow the host's colours and are read
 * by screen readers; a canvas does none of this.
 */
import { useFormats } from './format.ts';
import { pointsOf } from './shapes.ts';
import { shortened } from './shorten.ts';

export interface Bar {
  key: string;
  name: string;
  count?: number | undefined;
  text: string;
  /** Where the bar begins and how long it is, in percent of the width. */
  start?: number;
  length: number;
  tone?: 'danger' | 'good' | 'total' | undefined;
  /** Shows what the bar counts. */
  open?: (() => void) | undefined;
}

interface Props {
  /** The titles of the columns: what the rows are, and what the bars measure. */
  first: string;
  measure: string;
  bars: readonly Bar[];
}

/** Characters of a name beside its bar; the tooltip has all of it. */
const maxName = 40;

export function Bars({ first, measure, bars }: Props) {
  const { number } = useFormats();
  return (
    <table class="chart">
      <caption class="about">{measure}</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">{first}</th>
          <th scope="col">Number</th>
          <th scope="col">{measure}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ key, name, count, text, start = 0, length, tone = '', open }) => (
          <tr key={key} class={tone}>
            <th scope="row">
              <bdi title={name.length > maxName ? name : undefined}>{shortened(name, maxName)}</bdi>
            </th>
            <td class="num count">
              <Count text={count === undefined ? '' : number(count)} name={name} open={open} />
            </td>
            <td>
              <div class="track">
                <span class="bar-space" aria-hidden="true">
                  <span
                    class={`bar ${tone}`}
                    style={{
                      marginInlineStart: `${start}%`,
                      width: `${length > 0 ? Math.max(length, 0.6) : 0}%`,
                    }}
                  />
                </span>
                <bdi class="amount">{text}</bdi>
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CountProps {
  text: string;
  /** What is counted. */
  name: string;
  open: (() => void) | undefined;
}

/** A number that opens what it counts. */
export function Count({ text, name, open }: CountProps) {
  if (!open) return <bdi>{text}</bdi>;
  return (
    <button type="button" class="link" aria-label={`${text} ${name}`} onClick={open}>
      <bdi>{text}</bdi>
    </button>
  );
}

interface LineProps {
  title: string;
  points: readonly { day: string; amount: number }[];
  currency: string;
}

const size = { width: 100, height: 32 };

/** Amounts day by day over an axis from 0, with the first and the last. */
export function Line({ title, points, currency }: LineProps) {
  const { day, money } = useFormats();
  const ends = [points[0], points.at(-1)].flatMap((point) => point ?? []);
  return (
    <figure class="trend">
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
      >
        <polyline
          points={pointsOf(
            points.map(({ amount }) => amount),
            size,
          )}
        />
      </svg>
      <figcaption>
        {ends.map((point) => (
          <span key={point.day}>
            {day(point.day)}
            <strong>{money(point.amount, currency)}</strong>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
