// The minimal proxy over HTTP: one POST, one JSON answer.
import { createServer } from 'node:http';
import { resultOf } from './forward.mjs';

const server = createServer(async (request, response) => {
  let body = '';
  request.setEncoding('utf8');
  for await (const text of request) body += text;
  const message = JSON.parse(body);
  const result = await resultOf(message);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
});
process.stdin.once('end', () => process.exit()).resume();
