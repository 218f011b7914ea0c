import type { Change, EventName, Subject } from './context.ts';
import { invalid, notFound } from './errors.ts';
import { isObject, type Json } from './json.ts';
import type { Reply } from './route.ts';
import type { Retry, Subscription, Webhooks } from './webhooks.ts';

const EVENTS: readonly [Subject, EventName[]][] = [
  ['company', ['created', 'updated']],
  ['contact', ['created', 'updated']],
  ['opportunity', ['created', 'status_changed', 'updated']],
  ['order', ['completed', 'created', 'updated']],
  ['product', ['created', 'updated']],
  ['quote', ['created', 'deleted', 'ordered', 'updated']],
];
const NAMES = EVENTS.flatMap(([subject, events]) => [
  subject,
  ...events.map((event) => `${subject}.${event}`),
]);
const DELIVERIES_SHOWN = 1_000;

export interface WebhookService {
  webhooks: Webhooks;
  tenants: readonly string[];
  announce(change: Change): void;
  now(): Date;
}

/**
 * Answers the admin routes of webhooks; undefined for every other one.
 * @throws Refusal 400 for an invalid body, 404 for an unknown id.
 */
export function answerWebhooks(
  service: WebhookService,
  method: string,
  path: string,
  body: Json | undefined,
): Reply | undefined {
  const { webhooks } = service;
  const [collection = '', id = '', verb = ''] = path.split('/');
  switch (`${method} ${collection}${id && '/:id'}${verb && `/${verb}`}`) {
    case 'GET webhooks':
      return reply([...webhooks.subscriptions.values()].map(toPublic));
    case 'POST webhooks':
      return reply(toPublic(webhooks.subscribe(readSubscription(body, service.tenants))), 201);
    case 'DELETE webhooks/:id':
      if (!webhooks.subscriptions.delete(id)) throw notFound(`No webhook ${id}`);
      return reply({ deleted: true });
    case 'GET deliveries':
      return reply(webhooks.deliveries.slice(0, DELIVERIES_SHOWN));
    case 'POST deliveries/:id/redeliver':
      return reply(webhooks.redeliver(id) ?? refuse(`No delivery ${id}`), 202);
    case 'GET delivery-failures':
      return reply(webhooks.failures);
    case 'POST delivery-retry':
      webhooks.retry = { ...webhooks.retry, ...readRetry(body) };
      return reply(webhooks.retry);
    case 'POST announce':
      return announce(service, body);
    default:
      return undefined;
  }
}

const reply = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) });

function refuse(why: string): never {
  throw notFound(why);
}

/** Never returns the secrets. */
const toPublic = ({ secret, signingSecret, ...open }: Subscription) => ({
  ...open,
  hasSecret: secret !== undefined,
  isSigned: signingSecret !== undefined,
});

/** @throws Refusal 400 */
export function readSubscription(
  body: Json | undefined,
  tenants: readonly string[],
): Omit<Subscription, 'id'> {
  if (!isObject(body)) throw invalid('webhook must be an object');
  const { url, tenant = tenants[0], events = [], form = 'dotted', secret, signingSecret } = body;
  const problems = [
    ...(isUrl(url) ? [] : ['url must be a web address']),
    ...(tenants.includes(String(tenant)) ? [] : [`tenant must be one of ${tenants.join(', ')}`]),
    ...(isEvents(events) ? [] : [`events must be some of ${NAMES.join(', ')}`]),
    ...(form === 'dotted' || form === 'pair' ? [] : ['form must be dotted or pair']),
    ...([secret, signingSecret].every(isOptionalText) ? [] : ['secrets must be strings']),
  ];
  if (problems.length > 0) throw invalid(...problems);
  return {
    url: String(url),
    tenant: String(tenant),
    events: Array.isArray(events) ? events.map(String) : [],
    form: form === 'pair' ? 'pair' : 'dotted',
    ...(secret === undefined ? {} : { secret: String(secret) }),
    ...(signingSecret === undefined ? {} : { signingSecret: String(signingSecret) }),
  };
}

const isUrl = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
const isEvents = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => NAMES.includes(String(name)));
const isOptionalText = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value !== '');

/** @throws Refusal 400 */
function readRetry(body: Json | undefined): Partial<Retry> {
  if (!isObject(body)) throw invalid('retry must be an object');
  const minimums: Record<keyof Retry, number> = { attempts: 1, firstMs: 0, maxMs: 0, timeoutMs: 1 };
  const known = new Map<string, number>(Object.entries(minimums));
  for (const [name, value] of Object.entries(body)) {
    const min = known.get(name) ?? Number.POSITIVE_INFINITY;
    const fits = Number.isInteger(value) && Number(value) >= min;
    if (!fits) throw invalid(`retry: ${name} is not valid`);
  }
  return body;
}

/** Sends an event that no route of the API causes, such as a completed order. */
function announce({ announce, tenants, now }: WebhookService, body: Json | undefined): Reply {
  if (!isObject(body)) throw invalid('event must be an object');
  const { tenant = tenants[0], record } = body;
  const [subject, events] = EVENTS.find(([name]) => name === body.subject) ?? [];
  const event = events?.find((name) => name === body.event);
  if (!subject || !event) throw invalid('subject and event are not valid');
  if (!isObject(record) || typeof record.id !== 'string') throw invalid('record must have an id');
  if (!tenants.includes(String(tenant))) throw invalid('tenant is not valid');
  const change = {
    tenant: String(tenant),
    subject,
    event,
    id: record.id,
    at: now().toISOString(),
    record,
  };
  announce(change);
  return reply(change, 201);
}
