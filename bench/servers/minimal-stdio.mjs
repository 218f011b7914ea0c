// The minimal proxy over stdio: JSON-RPC by hand.
import { resultOf } from './forward.mjs';

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) void answer(JSON.parse(line));
});
process.stdin.once('end', () => process.exit());

async function answer(message) {
  if (message.id === undefined) return;
  const result = await resultOf(message);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
}
