// What was measured, as rows of the table: against what, how much, how much it may be.
import { pairedMedian, rounded } from './statistics.mjs';

const times = (value) => `${rounded(value)} ×`;
const ms = (value) => `${rounded(value, value < 10 ? 2 : 0)} ms`;
const row = (what, { against, measured, limit, ok, ...more }) => ({
  what,
  against,
  measured,
  limit,
  verdict: ok ? 'ok' : 'over',
  ...more,
});
const atMost = (what, value, limit, { say: format = String, ...more }) =>
  row(what, {
    measured: format(value),
    limit: `≤ ${format(limit)}`,
    ok: value <= limit,
    value,
    ...more,
  });

/** The verdict is on the quotients of neighbours; beside it the least disturbed of each, and the SDK. */
const latencyRow = (what, limit, { bare, ours, sdk }) =>
  atMost(what, pairedMedian(ours.all, bare.all), limit, {
    say: times,
    against: `bare ${ms(bare.least)}`,
    detail: `least ${ms(ours.least)}, ${times(ours.least / bare.least)}; plain SDK ${times(pairedMedian(sdk.all, bare.all))}`,
  });

export const startRows = (measured) => [latencyRow('cold start, stdio', 2, measured)];

export function stdioRows(measured) {
  const { bare, ours } = measured;
  const row = latencyRow('list 25, stdio, p50', 1.5, measured);
  const processor = `processor time ${times(ours.processorMs / bare.processorMs)}`;
  return [{ ...row, detail: `${row.detail}; ${processor}` }];
}

export function httpRows(measured) {
  return ['modern', 'legacy'].map((era) => {
    const { bare, ours, sdk } = measured[era];
    const share = pairedMedian(ours.all, bare.all);
    return row(`list 25, HTTP, 32 in flight, ${era}`, {
      against: `bare ${Math.round(bare.most)}/s`,
      measured: times(share),
      limit: `≥ ${times(0.5)}`,
      ok: share >= 0.5,
      value: share,
      detail: `best ${Math.round(ours.most)}/s, ${times(ours.most / bare.most)}; plain SDK ${times(pairedMedian(sdk.all, bare.all))}; processor time ${times(ours.processorMs / bare.processorMs)}`,
    });
  });
}

export function memoryRows(measured) {
  const format = (value) => `${value < 0 ? '−' : '+'} ${Math.abs(Math.round(value))} MB`;
  return Object.entries(measured).map(([transport, { bare, ours, sdk }]) =>
    atMost(`memory after 1,000 calls, ${transport}`, ours.median - bare.median, 25, {
      say: format,
      against: `bare ${Math.round(bare.median)} MB`,
      detail: `${Math.round(ours.median)} MB; least ${format(ours.least - bare.least)}; plain SDK ${format(sdk.median - bare.median)}`,
    }),
  );
}

export function tokenRows({ tools, seen, sent, opportunities, quotes }) {
  const share = ({ tokens, wire }) => (100 * tokens) / wire;
  const percent = (value) => `${rounded(value, 1)} %`;
  return [
    atMost('tools/list as a model sees it', seen, 3_500, { against: `${tools} tools` }),
    atMost('tools/list as sent', sent, 7_000, { against: `${tools} tools` }),
    atMost('25 opportunities, concise', share(opportunities), 30, {
      say: percent,
      against: `wire ${opportunities.wire}`,
      detail: `${opportunities.tokens} tokens`,
    }),
    atMost('10 quotes, concise', share(quotes), 12, {
      say: percent,
      against: `wire ${quotes.wire}`,
      detail: `${quotes.tokens} tokens`,
    }),
  ];
}

const questions = {
  pipeline: {
    what: 'open pipeline by stage, 1,000 opportunities',
    tokens: 1_500,
    cold: 10,
    warm: 0,
  },
  company: { what: 'quotes of one company, with totals', tokens: 1_500 },
  underCost: { what: 'products priced under cost, 5,000 products', tokens: 2_000, cold: 50 },
};

export function workRows(measured) {
  return Object.entries(questions).flatMap(([name, { what, ...limits }]) => {
    const it = measured[name];
    if (!it) return [row(what, { measured: 'no such tool yet', limit: '', ok: false })];
    const format = ({ tokens, cold, warm }) =>
      [
        '1 call',
        `${tokens} tokens`,
        ...(cold === undefined ? [] : [`${cold} requests cold`]),
        ...(warm === undefined ? [] : [`${warm} warm`]),
      ].join(', ');
    const ok = Object.entries(limits).every(([unit, limit]) => it[unit] <= limit);
    const limit = `≤ ${format(limits)}`;
    return [row(what, { measured: format(it), limit, ok, value: it, detail: it.summary })];
  });
}
