import { expect, test } from 'vitest';
import { openWriter, persons } from './support/consent.ts';
import { addressIn, startSandbox } from './support/sandbox.ts';

test('try', async () => {
  for (const era of ['modern', 'legacy'] as const) for (const transport of ['pipe', 'http'] as const) {
  const sandbox = await startSandbox({ scale: 0.2 });
  const w = await openWriter(addressIn(sandbox, 'all'), { person: persons.accepts, era, transport });
  const t = await w.upsert({ external_id: 'NEW-1', create: true, name: 'x', probability: 0.4 });
  console.log(era, transport, t.text);
  }
});
