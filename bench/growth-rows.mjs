// How the measurements of growth and of the soak are shown, and which limits they have.
import { atMost, ms, row } from './rows.mjs';
import { maximum, rounded } from './statistics.mjs';

/** Of the largest tenant, in milliseconds. */
export const timeLimits = {
  'the same brief again': 10,
  'the brief with another filter': 60,
  'brief of another company': 30,
  'the same check again': 10,
  'the check with another floor': 100,
};
export const stallLimitMs = 50;
/** The default of CPQ_CACHE_MB, and what a process may hold besides. */
export const memoryLimitMegabytes = 256 + 100;

/** The longest stall in any call of one size. */
export const maxStallMs = ({ calls }) =>
  maximum(Object.values(calls).map(({ stallMs }) => stallMs));

export const megabytes = (value) => `${Math.round(value)} MB`;

/** `sizes` are measurements of the same calls, each of a larger tenant; the limits are for the last. */
export function growthRows(sizes) {
  const largest = sizes.at(-1);
  const smaller = sizes.slice(0, -1);
  const before = (show) => smaller.map((size) => `${size.times}× ${show(size)}`).join(', ');
  const name = (what) => `${largest.times}×: ${what}`;
  const held = (size) => megabytes(size.heldMegabytes);
  const calls = Object.entries(largest.calls).map(([what, { ms: value, ...more }]) => {
    const limit = timeLimits[what];
    const shown = {
      baseline: before(({ calls }) => ms(calls[what].ms)),
      detail: `processor time ${ms(more.processorMs)}, longest stall ${ms(more.stallMs)}, ${more.requests} requests`,
    };
    if (limit !== undefined) return atMost(name(what), value, limit, { format: ms, ...shown });
    return row(name(what), { measured: ms(value), limit: '', ok: true, value, ...shown });
  });
  return [
    ...calls,
    atMost(name('longest stall of /healthz'), maxStallMs(largest), stallLimitMs, {
      format: ms,
      baseline: before((size) => ms(maxStallMs(size))),
    }),
    atMost(
      name('resident memory above the bare process'),
      largest.heldMegabytes,
      memoryLimitMegabytes,
      {
        format: megabytes,
        baseline: before(held),
        detail: `bare process ${megabytes(largest.bareMegabytes)}, most at any time + ${megabytes(largest.maxMegabytes)}`,
      },
    ),
    atMost(name('walk, service at 50 ms a page'), largest.walk.ms, largest.walk.limitMs, {
      format: ms,
      detail: `${largest.walk.requests} pages, ${largest.walk.width} at a time`,
    }),
  ];
}

const signed = (value) => `${value < 0 ? '−' : '+'} ${Math.abs(value)}`;
const soakLimits = {
  residentMegabytes: { what: 'resident memory', unit: ' MB', limit: 40 },
  heapMegabytes: { what: 'heap after collecting garbage', unit: ' MB', limit: 10 },
  files: { what: 'open files', unit: '', limit: 32 },
  sockets: { what: 'sockets', unit: '', limit: 32 },
  timers: { what: 'timers', unit: '', limit: 32 },
};

export function soakRows({ start, end, calls, tenants }) {
  return Object.entries(soakLimits).map(([field, { what, unit, limit }]) =>
    atMost(`${calls} calls, ${tenants} tenants: ${what}`, end[field] - start[field], limit, {
      baseline: `${Math.round(start[field])}${unit}`,
      format: (value) => `${signed(rounded(value, 1))}${unit}`,
    }),
  );
}
