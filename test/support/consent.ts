import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, ElicitResult, Result } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { ConsentSetting } from '../../src/changes/consent.ts';
import { fieldNames } from '../../src/changes/writable-fields.ts';
import { localState } from '../../src/state/files/local.ts';
import type { State } from '../../src/state/port.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import type { TenantOptions, WriteRules } from '../../src/tenant/shared-state.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import type { Person } from './clients.ts';
import { embeddedTenant } from './embedded-tenant.ts';
import { defaultLimits, openTenant } from './hardening-tenant.ts';
import type { Row } from './hosts.ts';
import { type Address, askService, requestsTo, type Sandbox } from './sandbox.ts';
import { closing, newFolder, shared } from './shared.ts';
import { type ConnectOptions, serve, type TenantServer } from './tenant-server.ts';
import type { ResourcePath } from './upstream/records.ts';
import { startUpstream } from './upstream/upstream.ts';

/** The possible answers of a person. */
export const personAnswers = {
  accepts: () => ({ action: 'accept', content: { agree: true } }),
  'accepts without the tick': () => ({ action: 'accept', content: { agree: false } }),
  'accepts an empty form': () => ({ action: 'accept' }),
  declines: () => ({ action: 'decline' }),
  cancels: () => ({ action: 'cancel' }),
} satisfies Record<string, Person>;

/** Answers later, or never. The client's handler may be asynchronous, although its type here is not. */
export const answerSlowly = (answer: () => Promise<ElicitResult>): Person =>
  answer as unknown as Person;

export const answerNever: Person = answerSlowly(() => new Promise(() => {}));

/** A person whose answers the test sets, and who records the questions. */
export class Answering {
  readonly asked: string[] = [];
  /** Of the last form. */
  schema: unknown;
  next: Person = personAnswers.accepts;

  readonly person: Person = (question) => {
    this.asked.push(question.message);
    this.schema = question.requestedSchema;
    return this.next(question);
  };
}

/** The parts of a tool's answer that are about a write. */
export interface CallReport {
  text: string;
  data: Row;
  isError: boolean;
  outcome: string;
  changes: Row[];
  /** The token of a preview. */
  confirm?: string;
  preview: string;
  change_id: string;
}

export function reportOf(result: Result): CallReport {
  const { content = [], structuredContent = {}, isError = false } = result as unknown as Content;
  const data = structuredContent;
  return {
    ...(data as unknown as CallReport),
    text: content.map(({ text = '' }) => text).join('\n'),
    data,
    isError,
    preview: ((data.preview as string[] | undefined) ?? []).join('\n'),
  };
}

interface Content {
  content?: { text?: string }[];
  structuredContent?: Row;
  isError?: boolean;
}

/** Every line of the journals of a state folder. */
export async function journalIn(folder: string): Promise<Row[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.startsWith('changes-'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.join('').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

export interface WriterOptions extends ConnectOptions {
  folder?: string;
  /** Shared by the clients of one server. */
  state?: State;
  rules?: Partial<WriteRules>;
  consent?: ConsentSetting;
  grants?: string[];
  tenant?: Partial<TenantOptions>;
}

/** A server in this process over one tenant, and a real client connected to it. */
export interface Writer extends TenantServer {
  client: Client;
  tenant: Tenant;
  folder: string;
  call(name: string, args: Row, signal?: AbortSignal): Promise<CallReport>;
  upsert(args: Row, signal?: AbortSignal): Promise<CallReport>;
  revert(changeId: string, args?: Row): Promise<CallReport>;
  /** Sends one request of the protocol; a question in its answer is not answered. */
  raw(params: Row): Promise<Row>;
  journal(): Promise<Row[]>;
}

/** For a service that never answers: long enough for the other requests of the test. */
export const hangingLimits = { ...defaultLimits, attemptMs: 2_000 };
const openSchema = z.looseObject({});

export async function openWriter(address: Address, options: WriterOptions = {}): Promise<Writer> {
  const { folder = newFolder(), state = localState(folder), consent = 'token' } = options;
  const tenant = tenantOf(address, state, options);
  const failed = (_tool: string, error: unknown) => {
    throw new Error('an error of our own', { cause: error });
  };
  closing({ close: () => tenant.close() });
  const server = serve(tenant, { log: { failed }, consent });
  const client = await server.connect(options);
  const call: Writer['call'] = async (name, args, signal) =>
    reportOf(await client.callTool({ name, arguments: args }, signal ? { signal } : {}));
  return {
    ...server,
    client,
    tenant,
    folder,
    call,
    upsert: (args, signal) => call('cpq_upsert_opportunity', args, signal),
    revert: (change_id, args) => call('cpq_revert_change', { change_id, ...args }),
    raw: (params) => rawCall(client, params),
    journal: () => journalIn(folder),
  };
}

/** A service with these numbers of records, and a writer over it with a person who agrees. */
export async function openOverService(
  { key = 'any', ...options }: WriterOptions & { key?: string } = {},
  counts: Partial<Record<ResourcePath, number>> = { '/opportunity': 12 },
) {
  const upstream = closing(await startUpstream({ counts }));
  const answering = new Answering();
  const address = { baseUrl: upstream.url, key };
  const it = await openWriter(address, { person: answering.person, ...options });
  /** The bodies of the writes that the service received. */
  const bodies = (): Row[] =>
    upstream.requests.flatMap(({ method, body }) => (method === 'PUT' ? [JSON.parse(body)] : []));
  /** Their number. */
  const puts = () => upstream.requests.filter(({ method }) => method === 'PUT').length;
  return { upstream, rows: upstream.records['/opportunity'], answering, it, bodies, puts };
}

/** A sandbox for the tests of a file, with an opportunity that each of them gives another name. */
export function sandboxToWrite(name = 'Named by a test') {
  const { sandbox, address: at } = embeddedTenant({ scale: 0.2, as: 'all' });
  const opportunity = shared(async () => anyOpportunity(await at()));
  let count = 0;
  return {
    sandbox,
    at,
    opportunity,
    /** A change that no other test makes. */
    async another() {
      count += 1;
      return { opportunity_id: (await opportunity()).id, name: `${name} ${count}` };
    },
    now: async () => recordOf(await at(), (await opportunity()).id),
    /** The number of writes that the service received. */
    puts: async () => putsOf(await sandbox()).length,
  };
}

function tenantOf(address: Address, state: State, options: WriterOptions): Tenant {
  const usual = {
    perHour: 1_000,
    fields: new Set(fieldNames),
    allowedStages: [],
  };
  return openTenant({
    url: address.baseUrl,
    key: address.key,
    state,
    writeRules: { ...usual, ...options.rules },
    grants: parseGrants(options.grants ?? ['read', 'opportunity:write']),
    requestLimit: 1_000_000,
    // Effectively off: an open circuit breaker would answer instead of the service.
    circuitFailures: 1_000,
    ...options.tenant,
  });
}

export async function rawCall(client: Client, params: Row): Promise<Row> {
  const request = { method: 'tools/call', params };
  return client.request(request, openSchema, { allowInputRequired: true });
}

/** Calls a write and leaves its question unanswered. @returns the sealed state of the question */
export async function question(writer: Writer, args: Row): Promise<{ requestState: string }> {
  const result = await writer.raw({ name: 'cpq_upsert_opportunity', arguments: args });
  if (result.resultType !== 'input_required') throw new Error(JSON.stringify(result));
  return { requestState: String(result.requestState) };
}

/** The `PUT` requests that a sandbox was sent, by path and status. */
export const putsOf = (sandbox: Sandbox): { path: string; status: number }[] =>
  requestsTo(sandbox)
    .filter(({ method, path }) => method === 'PUT' && path.includes('/opportunity/'))
    .map(({ path, status }) => ({ path, status }));

/** The opportunity as the service has it, read without the server's code. */
export const recordOf = async (at: Address, id: unknown): Promise<Row> =>
  (await askService(at, `/opportunity/${id}`)) as Row;

/** An edit by another person directly at the service; omitted fields stay. */
export const editRecord = async (at: Address, externalId: unknown, body: Row): Promise<Row> =>
  (await askService(at, `/opportunity/ext/${encodeURIComponent(String(externalId))}`, {
    method: 'PUT',
    body: JSON.stringify(body),
  })) as Row;

/** An open opportunity with all fields that tests change. */
export async function anyOpportunity(at: Address): Promise<Opportunity> {
  const { results } = (await askService(at, '/opportunity?size=100')) as { results: Opportunity[] };
  const found = results.find(
    (it) =>
      it.externalIdentifier &&
      it.description &&
      it.contact &&
      it.company &&
      !it.deletedAt &&
      it.probability &&
      it.customFields &&
      it.pipelineStage &&
      typeof it.onetimeRevenue === 'number',
  );
  if (!found) throw new Error('no such opportunity');
  return found;
}

export interface Opportunity extends Row {
  id: string;
  externalIdentifier: string;
  name: string;
  probability: number;
  company: { id: string; name: string };
  contact: { id: string; name: string };
  pipelineStage: { id: string; name: string };
}

/** The same state; `announced` runs after the intent of a write was recorded and before it is sent. */
export function announcingJournal(state: State, announced: () => Promise<void>): State {
  const journal: State['journal'] = (tenant) => {
    const real = state.journal(tenant);
    return {
      read: () => real.read(),
      async append(entry) {
        await real.append(entry);
        if (entry.phase === 'sending') await announced();
      },
    };
  };
  return { ...state, journal };
}
