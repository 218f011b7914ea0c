// A proxy between a server and its upstream, in the benchmark's own process, that counts requests.
import { createServer, request as send } from 'node:http';

export async function countingProxy(target) {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    count += 1;
    const { method, headers, url } = incoming;
    const passed = send(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
