import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections, and to servers that ask for any: from 32768 on Linux, from 49152
 * elsewhere. Each process begins at another one, so that no other test takes a port before it is listened on.
 */
const [first, count] = [10_000, 20_000];
let next = (process.pid * 41) % count;

/** A port of this machine on which nobody listens, and that nobody is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % count;
    const server = createServer().listen(first + next, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return first + next;
  }
}
