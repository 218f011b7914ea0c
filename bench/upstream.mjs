// Replaces the service: answers every request at once with a page, so that only the server in front of it is measured. No page
// has the same bytes as the one before. Takes the file with the page, and prints its address.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [, , file] = process.argv;
const body = readFileSync(file);
/** Of the fraction of a second in some time. */
const digits = body.indexOf('.', body.indexOf('"updatedAt":"')) + 1;
let answers = 0;

/** The page, with another time in it. */
function changed() {
  answers += 1;
  const page = Buffer.from(body);
  page.write(String(answers % 1000).padStart(3, '0'), digits, 'latin1');
  return page;
}

const headers = { 'content-type': 'application/json', 'content-length': body.length };
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  response.writeHead(200, headers).end(changed());
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.once('end', () => process.exit()).resume();
