// The embedded tenant in a process of its own: messages with SQL read and change its tables. Prints its address and key.
import { startSandbox } from '../src/sandbox/index.ts';

const scale = Number(process.argv[2]);
const { database, tenants } = await startSandbox({ rateLimit: false, scale, tenants: ['tenant'] });
const [{ baseUrl, keys }] = tenants;

process.on('message', ({ sql, values = [] }) => {
  if (sql !== undefined) process.send(database.prepare(sql).all(...values));
});
process.stdout.write(`${baseUrl} ${keys.all}\n`);
