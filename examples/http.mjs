// The server under a path of your own HTTP service. The server authenticates nobody here: this program does,
// before it passes a request on. From a clone:
//
//   npm ci && MCP_TOKEN=… CPQ_BASE_URL=… CPQ_API_KEY=… node examples/http.mjs
//
// In a project of your own, first: npm install /path/to/the/clone
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createCpqServer } from 'cpq-mcp';

const { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: apiKey, MCP_TOKEN: token, PORT = '3334' } = process.env;
if (!token) throw new Error('Set MCP_TOKEN, the token that callers send.');
const tenant = baseUrl && apiKey ? { baseUrl, apiKey } : { sandbox: true };
const cpq = await createCpqServer(tenant);

const digest = (text) => createHash('sha256').update(text).digest();
const expected = digest(`Bearer ${token}`);
const mayAsk = (incoming) =>
  timingSafeEqual(digest(incoming.headers.authorization ?? ''), expected);

async function answer(incoming, outgoing) {
  if (incoming.url !== '/quotes/mcp') return outgoing.writeHead(404).end();
  // Requests of web pages are refused, whatever token they have.
  if (incoming.headers.origin || !mayAsk(incoming)) return outgoing.writeHead(401).end();
  const { method, headers } = incoming;
  const body = method === 'POST' ? Readable.toWeb(incoming) : undefined;
  const request = new Request('http://localhost/quotes/mcp', {
    method,
    headers,
    body,
    duplex: 'half',
  });
  const response = await cpq.fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body) await pipeline(Readable.fromWeb(response.body), outgoing);
  else outgoing.end();
}

const server = createServer((incoming, outgoing) => {
  // Such as a method that no Request may have, or a caller that disconnects. Unhandled, it would end this program.
  answer(incoming, outgoing).catch((error) => {
    console.error(error.message);
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(400).end();
  });
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/quotes/mcp`);
});

process.once('SIGTERM', async () => {
  server.close();
  await cpq.close();
});
