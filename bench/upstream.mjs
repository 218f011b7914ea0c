// Replaces the service: answers every request with the same bytes, so that only the server in front of it is
// measured. Takes the file with the body as its argument; prints its address.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const body = readFileSync(process.argv[2]);
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  response.writeHead(200, headers).end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.once('end', () => process.exit()).resume();
