// Keeps one collection after the other until it is killed, and prints the number of each.
import { localState } from '../../../src/state/files/local.ts';
import { keptReading } from '../kept-reading.ts';

const [folder = '', first = ''] = process.argv.slice(2);
const key = { tenant: 'abcdef0123456789', reader: 'reader', collection: 'quote' };
const { collections } = localState(folder);

for (let number = Number(first); ; number++) {
  await collections?.getOrLoad(
    key,
    0,
    async () => keptReading(number),
    AbortSignal.timeout(60_000),
  );
  process.stdout.write(`${number}\n`);
}
