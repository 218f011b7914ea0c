// The plot of growth, as SVG: readable on light and dark pages, with the name of each line at its end.
import { maximum, minimum, rounded } from './statistics.mjs';

const panel = { width: 490, height: 250, left: 60, right: 210, top: 34, bottom: 28 };
const colours = ['#3b82f6', '#e8590c', '#2f9e44', '#ae3ec9', '#c2910c', '#0c8599', '#868e96'];
const labelHeight = 14;

const style = `
  text { font: 12px sans-serif; fill: #1f2328 }
  .title { font-weight: bold }
  .page { fill: #ffffff }
  .grid { stroke: #d0d7de }
  .limit { stroke: #cf222e; stroke-dasharray: 5 4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .page { fill: #0d1117 }
    .grid { stroke: #30363d }
    .limit { stroke: #ff7b72 }
  }`;

/** `panels` have a title, a unit, maybe a limit, and series: a name and a value for each of the sizes. */
export function plot(title, sizes, panels) {
  const width = 2 * panel.width;
  const height = Math.ceil(panels.length / 2) * panel.height;
  const drawn = panels.map((it, at) => {
    const [x, y] = [(at % 2) * panel.width, Math.floor(at / 2) * panel.height];
    return `<g transform="translate(${x} ${y})">\n${drawPanel(sizes, it)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
<style>${style}
</style>
<rect class="page" width="${width}" height="${height}"/>
${drawn.join('\n')}
</svg>
`;
}

function drawPanel(sizes, { title, unit, series, limit }) {
  const values = [...series.flatMap((it) => it.values), ...(limit === undefined ? [] : [limit])];
  const decades = decadesAround(values);
  const right = panel.width - panel.right;
  const bottom = panel.height - panel.bottom;
  const x = (at) => panel.left + (at * (right - panel.left)) / Math.max(1, sizes.length - 1);
  const y = (value) => {
    const share = Math.log10(value / decades[0]) / Math.log10(decades.at(-1) / decades[0]);
    return rounded(bottom - share * (bottom - panel.top), 1);
  };
  const line = (kind, value) =>
    `<line class="${kind}" x1="${panel.left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/>`;
  const label = (value) => `${value.toLocaleString('en')} ${unit}`;
  return [
    `<text class="title" x="8" y="18">${title}</text>`,
    ...decades.map(
      (value) =>
        `${line('grid', value)}<text x="${panel.left - 6}" y="${y(value) + 4}" text-anchor="end">${value.toLocaleString('en')}</text>`,
    ),
    ...(limit === undefined ? [] : [line('limit', limit)]),
    ...sizes.map(
      (size, at) => `<text x="${x(at)}" y="${bottom + 18}" text-anchor="middle">${size}×</text>`,
    ),
    ...drawSeries(series, x, y),
    ...drawLabels(
      [
        ...series.map(({ name, values }, at) => [name, y(values.at(-1)), colours[at]]),
        ...(limit === undefined ? [] : [[`limit: ${label(limit)}`, y(limit), 'none']]),
      ],
      right,
      bottom,
    ),
  ].join('\n');
}

/** Powers of ten from below the least to above the greatest value. */
function decadesAround(values) {
  const first = Math.floor(Math.log10(minimum(values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(maximum(values))));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

const drawSeries = (series, x, y) =>
  series.map(({ values }, at) => {
    const points = values.map((value, size) => `${rounded(x(size), 1)},${y(value)}`).join(' ');
    return `<polyline points="${points}" fill="none" stroke="${colours[at]}" stroke-width="2"/>`;
  });

/** Each beside the end of its line, and none over another. */
function drawLabels(labels, right, bottom) {
  const sorted = [...labels].sort((a, b) => a[1] - b[1]);
  let next = panel.top;
  const placed = sorted.map(([text, wanted, colour]) => {
    const at = Math.max(wanted, next);
    next = at + labelHeight;
    return { text, colour, at };
  });
  const over = Math.max(0, next - labelHeight - bottom);
  return placed.map(
    ({ text, colour, at }) =>
      `<rect x="${right + 8}" y="${rounded(at - over - 1, 1)}" width="10" height="3" fill="${colour}"/><text x="${right + 22}" y="${rounded(at - over + 4, 1)}">${text}</text>`,
  );
}
