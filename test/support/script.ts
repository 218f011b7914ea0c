import type { Person } from './clients.ts';
import { personAnswers } from './consent.ts';
import { type Connection, environmentFor, open, type Row, type ServerSettings } from './hosts.ts';
import { runHere } from './process.ts';
import {
  type Address,
  addressIn,
  type KeyName,
  requestsTo,
  type Sandbox,
  startSandbox,
} from './sandbox.ts';
import { closing, newFolder, useDay } from './shared.ts';
import { limit, type Upstream } from './upstream/behaviour.ts';
import { type FaultName, faults } from './upstream/faults.ts';
import { type Start, startUpstream } from './upstream/upstream.ts';
import { type WriteFaultName, writeFaults } from './upstream/write-faults.ts';

/** What a step `server` may say; each is that of a usual server where it is absent. */
interface Described extends ServerSettings {
  /** Of the service's key. */
  key?: KeyName;
  answers?: keyof typeof personAnswers;
}

const dayMs = 86_400_000;
const mark = '=== ';

/**
 * Runs a script again: steps, each a line that begins with `=== `, with what is answered below it. Steps are
 * - `<tool> <arguments>`, as a client calls it
 * - `tenant <options>`: the embedded tenant with other data, such as another scale; before all other steps
 * - `upstream <options>`: a service that misbehaves instead of the embedded tenant, from here on
 * - `fault <name> <limits>`: how it misbehaves from here on, and at which requests, as `{"method":"PUT"}`
 * - `server <settings>`: another server of the same tenant and state (see `Described`)
 * - `sql <statement>`: changes the tenant's data behind the server's back
 * - `read <address>`, `prompt <name> <arguments>`, `complete <address> <argument> <value>`
 * - `later <days>`: moves the clock
 * - `run <arguments>`: a command to its end, for the same tenant and state
 * - `http <method> <path> <headers> <body>`: a request to the server itself, headers and body as JSON
 *
 * What differs between runs has a name in the answers (`<change 1>`), which a later step may use.
 * @param script may have other answers, or none
 * @returns the same steps with the answers of now
 */
export async function runAgain(script: string): Promise<string> {
  const parts: string[] = [];
  for await (const part of answersNow(script)) parts.push(part);
  return `${parts.join('').trimEnd()}\n`;
}

/** The parts of a script with the answers of now: its title, then each step; the clock starts at noon of a fixed day. */
export async function* answersNow(script: string): AsyncGenerator<string> {
  // For each script: the minutes that earlier ones take would show in its answers.
  useDay('2026-11-20', 'UTC');
  const [, options = '{}'] = /^=== tenant (.*)$/m.exec(script) ?? [];
  const player = new Player(await startSandbox({ scale: 0.1, ...JSON.parse(options) }));
  const [title = '', ...steps] = script.split(/^=== /m);
  yield title;
  for (const step of steps) {
    const [line = ''] = step.split('\n', 1);
    const answer = await player.play(line).catch((error: Error) => `failed: ${error.message}`);
    yield `${mark}${line}\n${player.named(answer)}\n\n`;
  }
}

class Player {
  readonly #sandbox: Sandbox;
  readonly #folder = newFolder();
  readonly #names = new Map<string, string>();
  readonly #asked: string[] = [];
  #upstream: Upstream | undefined;
  #isCounted = true;
  #connection: Connection | undefined;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  async play(step: string): Promise<string> {
    const [kind = '', rest = ''] = [step.split(' ', 1)[0], step.slice(step.indexOf(' ') + 1)];
    const given = this.#unnamed(step.includes(' ') ? rest : '');
    if (kind === 'tenant') return 'started';
    if (kind === 'sql') return this.#sql(given);
    if (kind === 'upstream') return this.#misbehave(JSON.parse(given));
    if (kind === 'fault') return this.#fault(given);
    if (kind === 'run') return this.#run(given.split(' '));
    if (kind === 'http') return this.#http(given);
    if (kind === 'server') return this.#start(JSON.parse(given));
    if (kind === 'later') return later(Number(given));
    if (kind === 'read') return this.#request('resources/read', { uri: given });
    if (kind === 'prompt') {
      const [, name = '', args = '{}'] = /^(\S+)\s*(.*)$/.exec(given) ?? [];
      return this.#request('prompts/get', { name, arguments: JSON.parse(args) });
    }
    if (kind === 'complete') {
      const [, uri, name, value] = /^(\S+) (\S+) ?(.*)$/.exec(given) ?? [];
      const params = { ref: { type: 'ref/resource', uri }, argument: { name, value } };
      return this.#request('completion/complete', params);
    }
    return this.#call(kind, given === '' ? {} : JSON.parse(given));
  }

  /** The text with names for what differs between runs. */
  named(text: string): string {
    for (const [, change] of text.matchAll(/\b(chg_[a-z\d]{14,})/g)) this.#name('change', change);
    for (const [, token] of text.matchAll(/^confirm: (\S+)/gm)) this.#name('token', token);
    for (const [, id] of text.matchAll(/^Written: new [\s\S]*?^opportunity: id (\w+)/gm))
      this.#name('new record', id);
    const { url } = this.#upstream ?? this.#sandbox;
    let shown = text
      .replaceAll(url, '<service>')
      .replaceAll(new URL(url).host, '<host>')
      .replaceAll(this.#folder, '<folder>')
      // Time goes by between two steps.
      .replace(/again in \d\d? seconds/g, 'again in <some> seconds')
      .replace(/(?<=2026(?:-\d\d-\d\d)? 12:0)\d(?= UTC)/g, '0')
      .replace(/2026-\d\d-\d\dT12:0\d:\d\d(?:\.\d+)?Z?/g, '<now>');
    for (const [value, name] of this.#names) shown = shown.replaceAll(value, name);
    return shown;
  }

  #name(kind: string, value = ''): void {
    if (this.#names.has(value)) return;
    const count = [...this.#names.values()].filter((it) => it.startsWith(`<${kind} `)).length;
    this.#names.set(value, `<${kind} ${count + 1}>`);
  }

  #unnamed(text: string): string {
    let real = text;
    for (const [value, name] of this.#names) real = real.replaceAll(name, value);
    return real;
  }

  async #run(argv: readonly string[]): Promise<string> {
    const env = { ...environmentFor(this.#address('all')), CPQ_STATE_DIR: this.#folder };
    const { stdout, stderr, status } = await runHere(argv, env);
    return [stdout, stderr, `status: ${status}`].filter((it) => it !== '').join('\n');
  }

  async #http(given: string): Promise<string> {
    const { url } = await this.#running();
    const [, method = '', path = '', headers = '{}', body] =
      /^(\S+) (\S+) ?(\{.*?\})? ?(.*)?$/.exec(given) ?? [];
    const init = { method, headers: JSON.parse(headers), body: body || null };
    const response = await fetch(new URL(path, url), init);
    return `${response.status} ${response.headers.get('content-type')}\n${await response.text()}`;
  }

  #sql(statement: string): string {
    const { changes } = this.#sandbox.database.prepare(statement).run();
    return `${changes} rows`;
  }

  async #start({ key = 'all', answers, ...settings }: Described): Promise<string> {
    await this.#connection?.close();
    const answer = answers && personAnswers[answers];
    const person: Person | undefined =
      answer &&
      ((question) => {
        this.#asked.push(question.message);
        return answer();
      });
    const env = { CPQ_STATE_DIR: this.#folder, ...settings.env };
    this.#connection = await open({ at: this.#address(key), ...settings, env, person });
    return 'started';
  }

  #address(key: KeyName): Address {
    const { url } = this.#upstream ?? {};
    return url === undefined
      ? addressIn(this.#sandbox, key)
      : { baseUrl: url, key: 'key-of-a-service' };
  }

  async #misbehave(options: Start): Promise<string> {
    this.#upstream = closing(await startUpstream(options));
    return 'started';
  }

  #fault(given: string): string {
    const [, name = '', limits] = /^(\S+) ?(.*)$/.exec(given) ?? [];
    const behaviour = { ...writeFaults, ...faults }[name as FaultName | WriteFaultName];
    if (!behaviour) throw new Error('There is no such fault.');
    // The pages are read in parallel: how often each is tried again goes by chance.
    this.#isCounted = name !== 'later-500';
    this.#upstream?.reset();
    this.#upstream?.set(limits ? limit(behaviour, JSON.parse(limits)) : behaviour);
    return 'from now on';
  }

  #requests(): readonly { method: string; path: string }[] {
    return this.#upstream?.requests ?? requestsTo(this.#sandbox);
  }

  async #running(): Promise<Connection> {
    if (this.#connection === undefined) await this.#start({});
    return this.#connection as Connection;
  }

  async #call(name: string, args: Row): Promise<string> {
    const connection = await this.#running();
    const before = this.#requests().length;
    const { text, isError } = await connection.ask(name, args);
    const asked = this.#asked.splice(0).map((question) => `asked: ${question}\n`);
    return `${asked.join('')}${isError ? 'refused: ' : ''}${text}\n${this.#requestsSince(before)}`;
  }

  async #request(method: string, params: Row): Promise<string> {
    const connection = await this.#running();
    const result = (await connection.request(method, params)) as Row;
    const { contents, messages, completion } = result;
    const shown = (contents ?? messages ?? [completion]) as { text?: string; content?: Row }[];
    return shown.map((it) => it.text ?? it.content?.text ?? JSON.stringify(it)).join('\n');
  }

  /** What the call asked of the service, by route. */
  #requestsSince(before: number): string {
    if (!this.#isCounted) return 'requests: some again';
    const counts = new Map<string, number>();
    for (const { method, path } of this.#requests().slice(before)) {
      const { pathname } = new URL(path, this.#sandbox.url);
      const route = pathname
        .replace(/^.*\/public-api/, '')
        .replace(/\/[A-Za-z0-9]{20}\b/g, '/{id}');
      const of = method === 'GET' ? route : `${method} ${route}`;
      counts.set(of, (counts.get(of) ?? 0) + 1);
    }
    const routes = [...counts].map(([route, count]) => `${route} ${count}`).sort();
    return `requests: ${routes.length === 0 ? 'none' : routes.join(', ')}`;
  }
}

function later(days: number): string {
  const { TEST_CLOCK_AHEAD_MS } = process.env;
  process.env.TEST_CLOCK_AHEAD_MS = String(Number(TEST_CLOCK_AHEAD_MS) + days * dayMs);
  return new Date().toISOString().slice(0, 10);
}
