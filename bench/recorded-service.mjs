// The service as the benchmark's servers see it: every answer is taken from a real tenant once, and repeated from memory
// after that, so that a page takes the same time however large the tenant is, and requests can be counted.
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

export class RecordedService {
  #tenant;
  #server;
  #answers = new Map();
  #requests = 0;
  #paths = new Set();
  #inFlight = 0;
  #maxInFlight = 0;
  /** Milliseconds before an answer is sent. */
  delayMs = 0;
  /** Changes the body of an answer: gets and returns bytes, and is given the path. */
  alter = (body) => body;

  static async start(tenant) {
    const service = new RecordedService();
    service.#tenant = tenant;
    service.#server = createServer((request, response) => {
      service.#answer(request, response).catch(() => response.destroy());
    });
    await new Promise((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  /** The address of a tenant of this name; all of them have the records of the one real tenant. */
  baseUrlOf(name) {
    return `http://127.0.0.1:${this.#server.address().port}/${name}`;
  }

  /** Requests since it was last called, how many of them asked for the same again, and how many were in flight at once. */
  take() {
    const requests = this.#requests;
    const taken = {
      requests,
      repeated: requests - this.#paths.size,
      maxInFlight: this.#maxInFlight,
    };
    this.#requests = 0;
    this.#paths.clear();
    this.#maxInFlight = this.#inFlight;
    return taken;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request, response) {
    this.#requests += 1;
    this.#paths.add(request.url);
    this.#inFlight += 1;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight);
    response.once('close', () => {
      this.#inFlight -= 1;
    });
    const path = request.url.replace(/^\/[^/]+/, '');
    const [{ status, type, body }] = await Promise.all([
      this.#recorded(path),
      this.delayMs > 0 && setTimeout(this.delayMs),
    ]);
    const altered = this.alter(body, path);
    response.writeHead(status, { 'content-type': type, 'content-length': altered.length });
    response.end(altered);
  }

  async #recorded(path) {
    const known = this.#answers.get(path);
    if (known) return known;
    const { baseUrl, key } = this.#tenant;
    const response = await fetch(baseUrl + path, { headers: { 'api-key': key } });
    const answer = {
      status: response.status,
      type: response.headers.get('content-type'),
      body: Buffer.from(await response.arrayBuffer()),
    };
    if (response.ok) this.#answers.set(path, answer);
    return answer;
  }
}
