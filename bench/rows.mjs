// The measurements as rows of a table: baseline, measured value and limit.
import { maximum, pairedMedian, rounded } from './statistics.mjs';

const times = (value) => `${rounded(value)} ×`;
export const ms = (value) => `${rounded(value, value < 10 ? 2 : 0)} ms`;
export const row = (what, { baseline, measured, limit, ok, ...more }) => ({
  what,
  baseline,
  measured,
  limit,
  verdict: ok ? 'ok' : 'over',
  ...more,
});
export const atMost = (what, value, limit, { format = String, ...more }) =>
  row(what, {
    measured: format(value),
    limit: `≤ ${format(limit)}`,
    ok: value <= limit,
    value,
    ...more,
  });

/** The verdict is on the median of paired quotients; the detail has the minima and the SDK's quotient. */
const latencyRow = (what, limit, { minimal, cpq, sdk }) =>
  atMost(what, pairedMedian(cpq.all, minimal.all), limit, {
    format: times,
    baseline: `minimal proxy ${ms(minimal.min)}`,
    detail: `min ${ms(cpq.min)}, ${times(cpq.min / minimal.min)}; plain SDK ${times(pairedMedian(sdk.all, minimal.all))}`,
  });

export const startRows = (measured) => [latencyRow('cold start, stdio', 1.6, measured)];

export function stdioRows(measured, page) {
  const { minimal, cpq } = measured;
  const row = latencyRow(`list 25, ${page}, stdio, p50`, 1.8, measured);
  const processor = `processor time ${times(cpq.processorMs / minimal.processorMs)}`;
  return [{ ...row, detail: `${row.detail}; ${processor}` }];
}

/** Of the calls a second of the minimal proxy. */
const minHttpShare = 0.35;

export function httpRows(measured, page) {
  return ['modern', 'legacy'].map((era) => {
    const { minimal, cpq, sdk } = measured[era];
    const share = pairedMedian(cpq.all, minimal.all);
    return row(`list 25, ${page}, HTTP, 32 in flight, ${era}`, {
      baseline: `minimal proxy ${Math.round(minimal.max)}/s`,
      measured: times(share),
      limit: `≥ ${times(minHttpShare)}`,
      ok: share >= minHttpShare,
      value: share,
      detail: `best ${Math.round(cpq.max)}/s, ${times(cpq.max / minimal.max)}; plain SDK ${times(pairedMedian(sdk.all, minimal.all))}; processor time ${times(cpq.processorMs / minimal.processorMs)}`,
    });
  });
}

export function memoryRows(measured) {
  const format = (value) => `${value < 0 ? '−' : '+'} ${Math.abs(Math.round(value))} MB`;
  return Object.entries(measured).map(([transport, { minimal, cpq, sdk }]) =>
    atMost(`memory after 1,000 calls, ${transport}`, cpq.median - minimal.median, 20, {
      format,
      baseline: `minimal proxy ${Math.round(minimal.median)} MB`,
      detail: `${Math.round(cpq.median)} MB; min ${format(cpq.min - minimal.min)}; plain SDK ${format(sdk.median - minimal.median)}`,
    }),
  );
}

export function tokenRows({ tools, seen, sent, opportunities, quotes }) {
  const share = ({ tokens, wire }) => (100 * tokens) / wire;
  const percent = (value) => `${rounded(value, 1)} %`;
  return [
    atMost('tools and instructions as a model sees them', seen, 4_300, {
      baseline: `${tools} tools`,
    }),
    atMost('tools/list as sent', sent, 8_500, { baseline: `${tools} tools` }),
    atMost('25 opportunities, concise', share(opportunities), 30, {
      format: percent,
      baseline: `wire ${opportunities.wire}`,
      detail: `${opportunities.tokens} tokens`,
    }),
    atMost('10 quotes, concise', share(quotes), 12, {
      format: percent,
      baseline: `wire ${quotes.wire}`,
      detail: `${quotes.tokens} tokens`,
    }),
  ];
}

const requestTimes = [
  'cold',
  'again after six minutes, 20 records changed',
  'after another hour, 20 records changed',
  'in a new process, six minutes and 20 changed records later',
];

/** Of a tenant of 100,000 records. */
export const requestRows = (measured) =>
  measured.flatMap(({ what, asked }) =>
    asked.map(({ requests, limit, coverage = {} }, at) =>
      atMost(`${what}: requests, ${requestTimes[at]}`, requests, limit, {
        detail: `${coverage.read ?? 1} records${coverage.complete === false ? ', incomplete' : ''}`,
      }),
    ),
  );

/** What is kept of a working day: numbers of questions and requests, and times in simulated seconds. */
export function daySummary({ answers, different, hours, ...counts }) {
  const whole = answers.filter(({ isAnswered }) => isAnswered);
  const seconds = (times) => rounded(maximum([0, ...times]) / 1000, 1);
  const waits = (ofCatalogue) =>
    seconds(whole.filter((it) => it.isCatalogue === ofCatalogue).map(({ waitMs }) => waitMs));
  return {
    questions: answers.length,
    whole: whole.length,
    again: whole.filter(({ problems }) => problems.length > 0).length,
    wait: waits(false),
    waitOfCatalogue: waits(true),
    different: different.map(({ id }) => id),
    hours: rounded(hours, 1),
    ...counts,
  };
}

/** The limit of requests is for a day of 300 questions. */
export const dayRequests = (questions) => Math.round((2_500 * questions) / 300);

export function dayRows(name, it) {
  const seconds = (value) => `${value} s`;
  return [
    row(`${name}: questions answered whole`, {
      measured: String(it.whole),
      limit: String(it.questions),
      ok: it.whole === it.questions,
      value: it.whole,
      detail: `${it.again} after asking again`,
    }),
    atMost(`${name}: longest wait for the budget`, it.wait, 20, {
      format: seconds,
      detail: `over the whole catalogue ${seconds(it.waitOfCatalogue)}`,
    }),
    atMost(`${name}: requests`, it.requests, dayRequests(it.questions), {
      detail: `${it.refused} refused; at least ${it.minRemaining} remained; other program ${it.otherRefused} refused`,
    }),
    row(`${name}: answers unlike those of a new process`, {
      measured: it.different.join(', ') || 'none',
      limit: '',
      ok: true,
      value: it.different.length,
    }),
  ];
}

const questions = {
  pipeline: {
    what: 'open pipeline by stage, 1,000 opportunities',
    tokens: 1_500,
    repeated: 0,
    warm: 0,
  },
  company: { what: 'quotes of one company, with totals', tokens: 1_500 },
  underCost: { what: 'products priced under cost, 5,000 products', tokens: 2_000, cold: 50 },
};

export function workRows(measured) {
  return Object.entries(questions).flatMap(([name, { what, ...limits }]) => {
    const it = measured[name];
    if (!it) return [row(what, { measured: 'no such tool yet', limit: '', ok: false })];
    const format = ({ tokens, cold, repeated, warm }) =>
      [
        '1 call',
        `${tokens} tokens`,
        ...(cold === undefined ? [] : [`${cold} requests cold`]),
        ...(repeated === undefined ? [] : [`${repeated} read twice`]),
        ...(warm === undefined ? [] : [`${warm} warm`]),
      ].join(', ');
    const ok = Object.entries(limits).every(([unit, limit]) => it[unit] <= limit);
    const limit = `≤ ${format(limits)}`;
    return [row(what, { measured: format(it), limit, ok, value: it, detail: it.summary })];
  });
}
