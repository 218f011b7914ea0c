import { runSteps } from '../../figures/steps.ts';
import { ServicePages } from '../../reading/service-pages.ts';
import type { Call } from '../../service/call.ts';
import {
  ApiClient,
  type Attempt,
  type ClientOptions,
  type SentRequest,
  type Traffic,
} from '../../service/client.ts';
import { ApiError, type ErrorFacts, ignoreApiError, isApiError } from '../../service/errors.ts';
import type { ApiRecord, Resource } from '../../service/records/records.ts';
import { countInHeader } from '../../service/response.ts';
import { type Page, resources, routes } from '../../service/routes.ts';
import { type Understood, understand } from '../../tenant/field-gaps.ts';

/** The first page of a route, or why there is none. */
export interface Probe extends Page<ApiRecord> {
  error?: ApiError;
}

export type Probes = ReadonlyMap<Resource, Probe>;

/** What responses say of the rate budget; `retryAfter` in seconds. */
export interface ReportedBudget {
  remaining?: number;
  limit?: number;
  retryAfter?: number;
}

const maxRequests = 40;
const attemptMs = 10_000;

/** The pages of the service as the server reads them, with a maximum number of requests and a deadline. */
export class Prober implements Traffic {
  readonly pages: ServicePages;
  readonly budget: ReportedBudget = {};
  readonly call: Call;
  requests = 0;
  readonly client: ApiClient;

  constructor(target: Omit<ClientOptions, 'traffic'>, withinMs: number) {
    const { signal } = new AbortController();
    this.call = { signal, deadline: Date.now() + withinMs, purpose: 'interactive' };
    const client = new ApiClient({ ...target, limits: { attemptMs }, traffic: this });
    this.client = client;
    this.pages = new ServicePages({
      pageParam: client.pageParam,
      /** Requested once; again if the answer held an error that a second one may not have. */
      page(resource, query, call) {
        const request = () => client.page(resource, { ...query, attempts: 1 }, call);
        return request().catch((error: unknown) => {
          if (isApiError(error, 'embedded-error', 'malformed')) return request();
          throw error;
        });
      },
    });
  }

  get canAsk(): boolean {
    const hasTime = Date.now() < this.call.deadline && this.budget.retryAfter === undefined;
    return hasTime && this.requests < maxRequests;
  }

  /** @throws ApiError (`budget-spent`) when no further request may be sent */
  async begin(facts: ErrorFacts): Promise<SentRequest> {
    if (!this.canAsk) throw new ApiError('budget-spent', { ...facts, seconds: undefined });
    this.requests += 1;
    return { number: this.requests, startedAt: 0 };
  }

  async ended(_: SentRequest, { response, error }: Attempt): Promise<void> {
    for (const what of ['remaining', 'limit'] as const) {
      const count = countInHeader(response, `x-ratelimit-${what}`);
      if (count !== undefined) this.budget[what] = count;
    }
    if (isApiError(error, 'rate-limited')) this.budget.retryAfter = error.facts.seconds ?? 60;
  }
}

export const probeSize = 7;

/** Requests every route, until the first answers show that all would fail. The others are absent. */
export async function probeRoutes(prober: Prober): Promise<Probes> {
  const probes = new Map<Resource, Probe>();
  for (const resource of resources) {
    if (!prober.canAsk || failsEverywhere(probes)) break;
    const page = prober.pages.page(resource, { size: probeSize }, prober.call);
    const probe = await page.catch((error: unknown) => {
      if (!isApiError(error)) throw error;
      return { records: [], error };
    });
    probes.set(resource, probe);
  }
  return probes;
}

/** Whether the first answers are errors that every route would have. */
function failsEverywhere(probes: Probes): boolean {
  const [first, second] = [...probes.values()].map(({ error }) => error);
  if (isApiError(first, 'unreachable', 'web-page', 'redirect', 'timed-out', 'rate-limited'))
    return true;
  return first !== undefined && first.kind === second?.kind && first.kind !== 'not-permitted';
}

/** Records of a route, and what is known of their fields. */
export interface Rows {
  records: readonly ApiRecord[];
  account: Understood;
}

export type AllRows = ReadonlyMap<Resource, Rows>;

/** More records of the routes of sales records, since few may lack what others have. */
export async function readRows({ pages, call }: Prober, probes: Probes): Promise<AllRows> {
  const rows = new Map<Resource, Rows>();
  for (const [resource, probe] of probes) {
    if (probe.error) continue;
    const hasMore = routes[resource].shape === 'paged' && probe.records.length >= probeSize;
    // Where it is refused, also for the number of requests, the first rows have to do.
    const page =
      hasMore && (await pages.page(resource, { size: 100 }, call).catch(ignoreApiError()));
    const { records } = page || probe;
    rows.set(resource, { records, account: runSteps(understand(resource, records)) });
  }
  return rows;
}
