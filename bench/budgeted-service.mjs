// A tenant behind the service's budget, by a clock that is moved: 500 requests in any ten minutes for all programs, of
// which another program uses a fifth.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const windowMs = 600_000;
const limit = 500;
const otherEveryMs = windowMs / (limit / 5);
const noCounts = { requests: 0, refused: 0, otherRefused: 0, minRemaining: limit };
const ignored = ['sort', 'filters', 'query'];

export class BudgetedService {
  #now;
  #ignores;
  #pool;
  #prefix;
  #server;
  /** Of requests that count, the oldest first. */
  #times = [];
  #nextOther;
  #idleSince = 0;
  #inFlight = 0;
  #isLimited = true;
  /** Times and what remained then. */
  #left = [];
  #counts = { ...noCounts };

  /** @param ignores whether it ignores the order, the filters and the text that are asked for */
  static async start(tenant, now, ignores) {
    const service = new BudgetedService();
    const { origin, pathname } = new URL(tenant.baseUrl);
    service.#now = now;
    service.#ignores = ignores;
    service.#pool = new Pool(origin, { connections: 16 });
    service.#prefix = pathname;
    service.#nextOther = now();
    service.#server = createServer((request, response) => {
      service.#answer(request, response).catch(() => response.destroy());
    });
    await new Promise((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    service.baseUrl = `http://127.0.0.1:${service.#server.address().port}`;
    return service;
  }

  /** Milliseconds of real time since the last request ended. */
  get idleMs() {
    return this.#inFlight > 0 ? 0 : performance.now() - this.#idleSince;
  }

  /** The counts since it was last called. */
  take() {
    const taken = this.#counts;
    this.#counts = { ...noCounts };
    return taken;
  }

  /** The fewest requests that remained since a time. */
  minRemainingSince(time) {
    return Math.min(
      limit,
      ...this.#left.filter(({ now }) => now >= time).map((it) => it.remaining),
    );
  }

  /** Runs `work` while the budget is not enforced, and its headers are not sent. */
  async withoutLimit(work) {
    this.#isLimited = false;
    try {
      return await work();
    } finally {
      this.#isLimited = true;
    }
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#pool.destroy();
  }

  async #answer(request, response) {
    this.#inFlight += 1;
    response.once('close', () => {
      this.#inFlight -= 1;
      this.#idleSince = performance.now();
    });
    const headers = this.#budgetHeaders();
    if (headers['retry-after'] !== undefined) {
      this.#counts.refused += 1;
      request.resume();
      response.writeHead(429, headers).end('{"message":"Too many requests"}');
      return;
    }
    this.#counts.requests += 1;
    const {
      statusCode,
      body,
      headers: sent,
    } = await this.#pool.request({
      method: request.method,
      path: this.#prefix + this.#pathOf(request),
      headers: {
        'api-key': request.headers['api-key'],
        'content-type': request.headers['content-type'] ?? 'application/json',
      },
      body: request.method === 'PUT' ? request : null,
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    const type = sent['content-type'];
    response.writeHead(statusCode, { ...headers, 'content-type': type }).end(bytes);
  }

  #pathOf({ url }) {
    if (!this.#ignores) return url;
    const { pathname, searchParams } = new URL(url, 'http://service');
    for (const name of ignored) searchParams.delete(name);
    return searchParams.size > 0 ? `${pathname}?${searchParams}` : pathname;
  }

  /** Counts a request, and those that the other program sent before it. */
  #budgetHeaders() {
    const now = this.#now();
    const date = new Date(now).toUTCString();
    for (; this.#nextOther <= now; this.#nextOther += otherEveryMs)
      if (!this.#count(this.#nextOther)) this.#counts.otherRefused += 1;
    if (!this.#isLimited) return { date };
    const isTaken = this.#count(now);
    const remaining = limit - this.#times.length;
    this.#counts.minRemaining = Math.min(this.#counts.minRemaining, remaining);
    this.#left.push({ now, remaining });
    const reset = Math.max(1, Math.ceil((this.#times[0] + windowMs - now) / 1000));
    return {
      date,
      'x-ratelimit-limit': limit,
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset': reset,
      ...(!isTaken && { 'retry-after': reset }),
    };
  }

  #count(time) {
    while (this.#times[0] <= time - windowMs) this.#times.shift();
    if (this.#times.length >= limit) return false;
    this.#times.push(time);
    return true;
  }
}
