// npm run generate:numbers: draws the tables of docs/numbers.md, and docs/images/growth.svg, from bench/results.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  maxStallMs,
  megabytes,
  memoryLimitMegabytes,
  stallLimitMs,
  timeLimits,
} from './growth-rows.mjs';
import { plot } from './plot.mjs';
import { dayRequests, ms } from './rows.mjs';
import { maximum } from './statistics.mjs';

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The results of `npm run bench` on each version of Node, the oldest first; only it has what does not depend on Node. */
const results = [20, 22, 24]
  .map((version) => inRoot(`bench/results/node-${version}.json`))
  .filter(existsSync)
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));
const [oldest] = results;

const table = (columns, rows) =>
  [columns, columns.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
const marked = (text, isOver) => (isOver ? `**${text}**` : text);
const shown = (it) => (it ? marked(it.measured, it.verdict === 'over') : '');
const nodeOf = ({ node }) => `Node ${node.replace(/^v(\d+).*/, '$1')}`;

/** When and on what these parts were measured. */
function conditions(names, ofResults = results) {
  const withThem = ofResults.filter(({ parts }) => names.some((name) => parts[name]));
  const runs = withThem.map(({ node, parts }) => {
    const measured = names.flatMap((name) => parts[name] ?? []);
    const dates = [...new Set(measured.map(({ date }) => date))].sort();
    const load = maximum(measured.map((part) => part.load));
    return `Node ${node.slice(1)} on ${dates.join(' and ')} (load before: ${load.toFixed(1)})`;
  });
  const isBusy = ofResults.some(({ cores, parts }) =>
    names.some((name) => parts[name]?.load > cores),
  );
  const warning = isBusy ? ' The machine was busy, so times and stalls are too long.' : '';
  return `Measured on ${oldest.cores} cores, ${oldest.model.trim()}: ${runs.join(', ')}.${warning}`;
}

const rowsOf = ({ parts }, ...names) => names.flatMap((name) => parts[name]?.rows ?? []);
const comparedParts = ['start', 'stdio', 'http', 'memory'];

function compared() {
  const rowIn = (result, what) => rowsOf(result, ...comparedParts).find((it) => it.what === what);
  const rows = rowsOf(oldest, ...comparedParts).map(({ what, limit }) => [
    what,
    limit,
    ...results.map((result) => shown(rowIn(result, what))),
  ]);
  const columns = ['what', 'limit', ...results.map(nodeOf)];
  return `${table(columns, rows)}\n\n${conditions(comparedParts)}`;
}

const counted = () =>
  table(
    ['what', 'limit', 'measured'],
    rowsOf(oldest, 'tokens', 'work').map((it) => [it.what, it.limit, shown(it)]),
  );

function requests() {
  const rows = oldest.parts.requests.measured.map(({ what, asked }) => [
    what,
    ...asked.map(({ requests: taken, limit }) => marked(`${taken} of ${limit}`, taken > limit)),
  ]);
  const columns = ['question', 'cold', 'again', 'after an hour', 'in a new process'];
  return table(columns, rows);
}

function growth() {
  const sizes = oldest.parts.growth.measured;
  const largest = sizes.at(-1);
  const rows = Object.entries(largest.calls).map(([what, { stallMs, requests, ms: time }]) => {
    const limit = timeLimits[what];
    return [
      what,
      ...sizes.slice(0, -1).map(({ calls }) => ms(calls[what].ms)),
      marked(ms(time), time > limit),
      limit === undefined ? '' : ms(limit),
      marked(ms(stallMs), stallMs > stallLimitMs),
      requests,
    ];
  });
  const { heldMegabytes: held, walk } = largest;
  const memory = [
    'resident memory above the bare process',
    ...sizes.slice(0, -1).map(({ heldMegabytes }) => megabytes(heldMegabytes)),
    marked(megabytes(held), held > memoryLimitMegabytes),
    megabytes(memoryLimitMegabytes),
  ];
  const slowWalk = [
    'walk, service at 50 ms a page',
    ...sizes.slice(0, -1).map(() => ''),
    marked(ms(walk.ms), walk.ms > walk.limitMs),
    ms(walk.limitMs),
  ];
  const end = (requests) => ['', requests];
  const columns = [...sizes.map(({ times }) => `${times}×`), 'limit'];
  const whole = table(
    ['what', ...columns, `longest stall, ${largest.times}×`, `requests, ${largest.times}×`],
    [...rows, [...slowWalk, ...end(walk.requests)], [...memory, ...end('')]],
  );
  return `${whole}\n\n${conditions(['growth'], [oldest])}`;
}

function growthPlot() {
  const sizes = oldest.parts.growth.measured;
  const names = Object.keys(sizes[0].calls);
  const seriesOf = (chosen) =>
    chosen.map((name) => ({ name, values: sizes.map(({ calls }) => calls[name].ms) }));
  const isCold = (name) => name.startsWith('first') || name.startsWith('walk');
  return plot(
    'Time, stalls and memory against the size of the tenant',
    sizes.map(({ times }) => times),
    [
      { title: 'First calls, in ms', unit: 'ms', series: seriesOf(names.filter(isCold)) },
      {
        title: 'Later calls, in ms',
        unit: 'ms',
        series: seriesOf(names.filter((name) => !isCold(name))),
      },
      {
        title: 'Longest stall of /healthz, in ms',
        unit: 'ms',
        limit: stallLimitMs,
        series: [{ name: 'longest stall', values: sizes.map(maxStallMs) }],
      },
      {
        title: 'Resident memory above the bare process, in MB',
        unit: 'MB',
        limit: memoryLimitMegabytes,
        series: [
          { name: 'everything held', values: sizes.map(({ heldMegabytes }) => heldMegabytes) },
        ],
      },
    ],
  );
}

function soak() {
  const { calls, tenants } = oldest.parts.soak.measured;
  const intro = `${calls.toLocaleString('en')} calls from ${tenants} tenants, of which half are served at a time; in between, tenants go and others come.`;
  const rows = rowsOf(oldest, 'soak').map((it) => [
    it.what.replace(/^.*: /, ''),
    it.baseline,
    shown(it),
    it.limit,
  ]);
  const whole = table(['what', 'after a fifth', 'from there to the end', 'limit'], rows);
  return `${intro}\n\n${whole}\n\n${conditions(['soak'], [oldest])}`;
}

/** The columns of a working day, and the parts of the benchmark that they show. */
const dayColumns = {
  day: 'now',
  'day-ignoring': 'a service that ignores `sort`, `filters` and `query`',
  'day-before': 'before parts, updates and kept collections',
};

function day() {
  const names = Object.keys(dayColumns).filter((name) => oldest.parts[name]);
  const measured = names.map((name) => oldest.parts[name].measured);
  const line = (what, limit, show, isOver = () => false) => [
    what,
    limit,
    ...measured.map((it) => marked(show(it), isOver(it))),
  ];
  const rows = [
    line(
      'questions answered whole',
      'all',
      (it) => `${it.whole} of ${it.questions}`,
      (it) => it.whole < it.questions,
    ),
    line('of these, after asking again when the answer said to', '', (it) => it.again),
    line(
      'longest wait for the budget',
      '≤ 20 s',
      ({ wait }) => `${wait} s`,
      ({ wait }) => wait > 20,
    ),
    line('the same, over the whole catalogue', '', (it) => `${it.waitOfCatalogue} s`),
    line(
      'requests',
      '≤ 2,500 of 300',
      (it) => it.requests,
      (it) => it.requests > dayRequests(it.questions),
    ),
    line('requests of each machine in the evening', '', (it) => it.eveningRequests),
    line('requests that were refused, and those of the other program', '', (it) =>
      [it.refused, it.otherRefused].join(', '),
    ),
    line('fewest requests that remained of 500', '', (it) => it.minRemaining),
    line('answers unlike those of a new process', '', (it) => it.different.join(', ') || 'none'),
  ];
  const whole = table(['what', 'limit', ...names.map((name) => dayColumns[name])], rows);
  return `${whole}\n\n${conditions(names, [oldest])}`;
}

/** Each with the part of the benchmark that it shows; what was not measured stays as it is. */
const sections = {
  compared: { part: 'start', draw: compared },
  counted: { part: 'tokens', draw: counted },
  requests: { part: 'requests', draw: requests },
  growth: { part: 'growth', draw: growth },
  soak: { part: 'soak', draw: soak },
  day: { part: 'day', draw: day },
};
const wasMeasured = (part) => Object.hasOwn(oldest.parts, part);

const page = inRoot('docs/numbers.md');
const text = readFileSync(page, 'utf8').replace(
  /(<!-- bench: (\w+) -->\n\n)(.*?)(\n\n<!-- \/bench -->)/gs,
  (_, start, name, shownBefore, end) => {
    const { part, draw } = sections[name];
    return start + (wasMeasured(part) ? draw() : shownBefore) + end;
  },
);
writeFileSync(page, text);
if (wasMeasured('growth')) writeFileSync(inRoot('docs/images/growth.svg'), growthPlot());
