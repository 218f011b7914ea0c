// A minimal stdio client: it does only what is needed to see that an answer has arrived.

/** Sends lines and waits for lines. Answers stay bytes, so that decoding and parsing them is not measured. */
export class LineClient {
  #child;
  #parts = [];
  #waiting = [];
  #nextId = 1;

  constructor(child) {
    this.#child = child;
    child.stdout.on('data', (bytes) => this.#read(bytes));
    child.once('close', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the server ended'));
    });
  }

  /** One request at a time; notifications are skipped. @returns the line of the answer, as bytes */
  request(method, params = {}) {
    const id = this.#nextId++;
    const answered = new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  }

  notify(method) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`);
  }

  /** The handshake of the older protocol revisions. */
  async open() {
    const answer = await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    this.notify('notifications/initialized');
    return answer;
  }

  /** A tool's result. @throws when it is an error */
  async call(name, args) {
    const text = String(await this.request('tools/call', { name, arguments: args }));
    const { result, error } = JSON.parse(text);
    if (error || result.isError) throw new Error(`${name}: ${text.slice(0, 500)}`);
    return result;
  }

  #read(bytes) {
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      this.#parts.push(bytes.subarray(from, end));
      from = end + 1;
      this.#line(this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts));
      this.#parts = [];
    }
    if (from < bytes.length) this.#parts.push(bytes.subarray(from));
  }

  #line(bytes) {
    const start = bytes.toString('latin1', 0, 40);
    if (/^\{(?:"jsonrpc":"2\.0",)?"method"/.test(start)) return;
    this.#waiting.shift()?.resolve(bytes);
  }
}
