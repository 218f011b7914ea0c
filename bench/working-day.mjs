// A working day of ten people: two desktop processes each, that share what their machine keeps, and one server for all; 300
// questions, 500 changes by others, and another program that uses a fifth of the service's budget. It begins with what each
// machine read in the evening before. Time is real while a question is answered, and is moved forward in between.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { BudgetedService } from './budgeted-service.mjs';
import { CommonClock, idleMs } from './common-clock.mjs';
import { change, randomFrom, subjectsOf } from './day-changes.mjs';
import { questions } from './day-questions.mjs';
import { callTool, open } from './http-client.mjs';
import { LineClient } from './line-client.mjs';
import { exchange, startProcess, stopProcess, waitForOutput } from './processes.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const movedClock = new URL('moved-clock.mjs', import.meta.url).href;
const people = 10;
/** Of a whole day. */
const allQuestions = 300;
const allChanges = 500;
/** Questions that one person asks one process, one after the other. */
const inConversation = 3;
const minute = 60_000;
const hour = 60 * minute;
/** The evening is at this hour (UTC); from it to the first question, and from that to the last. */
const evening = 18 * hour;
const night = 14 * hour;
const day = 8.5 * hour;
/** With as many requests left no reading waits: it begins to at a third of the budget. */
const waitsBelow = 200;
/** A person asks so often. */
const maxTries = 6;
const all = Object.keys(questions);
const readOnly = all.filter((id) => !questions[id][2]?.writes);
const unlimited = { CPQ_RATE_LIMIT: '1000000' };

/** A process that can be asked: `call` returns a result, or throws with the text of an error. */
async function startAsker(cpq, env, kind, time) {
  const argv = ['--import', movedClock, ...cpq[kind]];
  const asker = await (kind === 'http' ? openHttp(argv, env) : openStdio(argv, env));
  time.processes.add(asker.child);
  await time.moveTo(time.now());
  return asker;
}

async function openHttp(argv, env) {
  const server = await open({ http: argv }, env, people, { ipc: true });
  const call = async (tool, args) => (await callTool(server, tool, args)).result;
  return { child: server.child, call };
}

async function openStdio(argv, env) {
  const child = startProcess(argv, env, { ipc: true });
  const client = new LineClient(child);
  await client.open();
  let last = Promise.resolve();
  // One after the other, as this client needs it.
  const call = (tool, args) => {
    last = last.catch(() => {}).then(() => client.call(tool, args));
    return last;
  };
  return { child, call };
}

async function stopAsker({ child }, time) {
  time.processes.delete(child);
  await stopProcess(child);
}

/** A page of a list is whole if it is all that was asked for. */
function isWhole({ structuredContent: { coverage: { complete, reason } = {} } = {} }) {
  return complete !== false || reason === 'one page';
}

/** Asks once. @returns what is missing, as the answer says it; `undefined` if it is whole */
async function askOnce(asker, id, subject) {
  const [tool, argsOf, { refused, writes, declined } = {}] = questions[id];
  const args = argsOf(subject);
  try {
    let result = await asker.call(tool, args);
    const { confirm } = result.structuredContent ?? {};
    if (writes && !declined && confirm !== undefined)
      result = await asker.call(tool, { ...args, confirm });
    return isWhole(result) ? undefined : JSON.stringify(result.content);
  } catch ({ message }) {
    // Others say what is wrong with the question, such as a deal that was deleted meanwhile.
    const isDelayed = /budget|in \d+ seconds|in time|in a minute/.test(message);
    return isDelayed || !(refused || writes) ? message : undefined;
  }
}

/** When an answer says to ask again; in a minute if it does not. */
function toldTime(problem, now) {
  const [, moment] = /from (\S+Z) on/.exec(problem) ?? [];
  const [, seconds = 60] = /in (\d+) seconds/.exec(problem) ?? [];
  return 1_000 + (moment === undefined ? now + seconds * 1_000 : Date.parse(moment));
}

/** Asks until the answer is whole, each time when the answer before said to ask again. */
async function ask(asker, id, subject, time) {
  const from = time.now();
  const { catalogue: isCatalogue = false } = questions[id][2] ?? {};
  const problems = [];
  for (;;) {
    const problem = await askOnce(asker, id, subject);
    if (problem !== undefined) problems.push(problem);
    const isAnswered = problem === undefined;
    if (isAnswered || problems.length === maxTries)
      return { id, isCatalogue, problems, isAnswered, from, until: time.now() };
    await time.at(toldTime(problem, time.now()));
  }
}

/** Asks every question once. */
async function askAll(asker, subject, service) {
  for (const id of readOnly) await askOnce(asker, id, subject);
  while (service.idleMs < 10 * idleMs) await setTimeout(idleMs);
}

/** Conversations: all people begin within five minutes; of the rest, most are in the morning. */
function conversations(random, subjects, start, count, dayMs) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const ids = Array.from({ length: count }, (_, at) => {
    // Those that are asked once more than others are spread, too.
    const id = all[(at * 7) % all.length];
    return { id, order: random() };
  }).sort((a, b) => a.order - b.order);
  return Array.from({ length: count / inConversation }, (_, at) => ({
    person: at % people,
    /** The third one is the server. */
    process: pick([0, 1, 2]),
    begins: start + (at < people ? random() * 5 * minute : random() ** 1.4 * dayMs),
    subject: pick(subjects),
    asked: ids
      .slice(at * inConversation, (at + 1) * inConversation)
      .map(({ id }) => ({ id, pauseMs: (20 + random() * 40) * 1000 })),
  }));
}

/** Holds a conversation. @returns how its questions were answered: the time until then, and how much of it may be a wait for the budget */
async function converse(asker, { begins, subject, asked }, time, service, report) {
  const answers = [];
  await time.at(begins);
  for (const { id, pauseMs } of asked) {
    const { from, until, ...answer } = await ask(asker, id, subject, time);
    const isFree = answer.problems.length === 0 && service.minRemainingSince(from) > waitsBelow;
    answers.push({ ...answer, ms: until - from, waitMs: isFree ? 0 : until - from });
    report(answers.at(-1));
    await time.at(time.now() + pauseMs);
  }
  return answers;
}

/** The questions to which two processes give different answers. */
async function differing(asker, other, subject) {
  const contentOf = async (each, id) => {
    const [tool, argsOf] = questions[id];
    const answer = await each.call(tool, argsOf(subject)).catch(({ message }) => ({ message }));
    const { coverage: _, ...data } = answer.structuredContent ?? answer;
    return data;
  };
  const found = [];
  for (const id of readOnly) {
    const contents = [await contentOf(asker, id), await contentOf(other, id)];
    if (!isDeepStrictEqual(...contents)) found.push({ id, contents });
  }
  return found;
}

/** Starts a tenant of this size, whose clock is moved and whose tables can be read and changed. */
async function startTenant(scale) {
  const argv = [pathOf('../scripts/run-ts.mjs'), pathOf('day-tenant.mjs'), String(scale)];
  const child = startProcess(['--import', movedClock, ...argv], {}, { ipc: true });
  const [, baseUrl, key] = await waitForOutput(child, /(http\S+) (\S+)\n/, 180_000);
  return { child, baseUrl, key, query: (sql) => exchange(child, { sql }) };
}

/**
 * @param ignores whether the service ignores the order, the filters and the text that are asked for
 * @param count of questions; fewer than 300 are asked in a shorter day
 * @param report is called with each answer
 * @returns how the questions were answered, and what was asked of the service
 */
export async function measureDay(
  cpq,
  scale,
  { ignores = false, count = allQuestions, report = () => {} } = {},
) {
  const share = count / allQuestions;
  const random = randomFrom(12);
  const tenant = await startTenant(scale);
  const time = new CommonClock([tenant.child]);
  const subjects = await subjectsOf(tenant.query);
  const service = await BudgetedService.start(tenant, time.now, ignores);
  const settings = {
    CPQ_BASE_URL: service.baseUrl,
    CPQ_API_KEY: tenant.key,
    CPQ_GRANTS: 'read,opportunity:write',
    CPQ_CONSENT: 'token',
  };
  const folder = mkdtempSync(join(tmpdir(), 'cpq-mcp-day-'));
  const startOn = (name, kind, more) => {
    const env = { ...settings, CPQ_STATE_DIR: join(folder, name), ...more };
    return startAsker(cpq, env, kind, time);
  };
  try {
    await time.moveTo(Math.ceil(time.now() / (24 * hour)) * 24 * hour + evening);
    const reader = await startOn('evening', 'stdio', unlimited);
    await service.withoutLimit(() => askAll(reader, subjects[0], service));
    await stopAsker(reader, time);
    const eveningRequests = service.take().requests;

    const start = time.now() + night;
    await time.moveTo(start - 5 * minute);
    const names = Array.from({ length: people }, (_, at) => `person-${at}`);
    for (const name of [...names, 'server'])
      cpSync(join(folder, 'evening'), join(folder, name), { recursive: true });
    const server = await startOn('server', 'http');
    const desktops = [];
    for (const name of names)
      desktops.push([await startOn(name, 'stdio'), await startOn(name, 'stdio')]);

    const dayMs = share * day;
    const due = Array.from({ length: share * allChanges }, () => start + random() * dayMs).sort();
    const changeUntil = async (now) => {
      while (due[0] <= now) await change(tenant.query, random, due.shift(), due.length);
    };
    const tasks = conversations(random, subjects, start, count, dayMs).map((it) => () => {
      const asker = desktops[it.person][it.process] ?? server;
      return converse(asker, it, time, service, report);
    });
    const answers = (await time.run(tasks, service, changeUntil)).flat();
    const counts = service.take();
    const hours = (time.now() - start) / hour;

    // By then everything is read again or brought up to date before it is returned.
    await time.moveTo(time.now() + hour);
    const kept = await startOn('server', 'stdio', unlimited);
    const fresh = await startOn('fresh', 'stdio', unlimited);
    const different = await service.withoutLimit(() => differing(kept, fresh, subjects[0]));
    return { answers, different, hours, eveningRequests, ...counts };
  } finally {
    await Promise.all([...time.processes].map(stopProcess));
    await service.close();
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
}
