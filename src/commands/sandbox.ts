import { once } from 'node:events';
import { environmentName } from '../config/settings.ts';
import { ConfigError, readCommandLine } from '../config.ts';

export const help = `Use: cpq-mcp sandbox [--port P] [--data FILE] [--seed N] [--scale N] [--rate-limit N|off] [--webhook URL]
Flags:
  --port P         port on 127.0.0.1; default: any free one
  --data FILE      SQLite file for the data; default: in memory
  --seed N         the same seed gives the same data and keys; default: 1
  --scale N        multiplies the number of records, 0.01 to 100; default: 1
  --rate-limit N   requests in ten minutes, or off; default: 500
  --webhook URL    send events there, such as http://127.0.0.1:3333/webhooks/default/SECRET`;

export async function run(argv: readonly string[]): Promise<void> {
  const options = read(argv);
  const { startSandbox } = await import('../sandbox/index.ts');
  const running = await startSandbox({
    ...options,
    onDeliveryFailure: (failure) => process.stderr.write(`${JSON.stringify(failure)}\n`),
  });
  for (const { name, baseUrl, keys } of running.tenants) {
    process.stdout.write(
      `${name}\n  ${environmentName('baseUrl')}=${baseUrl}\n  ${environmentName('apiKey')}=${keys.all}\n`,
    );
  }
  process.stdout.write('Stop with Ctrl-C.\n');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await running.close();
}

const ownFlags = {
  port: 'string',
  data: 'string',
  seed: 'string',
  scale: 'string',
  'rate-limit': 'string',
  webhook: 'string',
} as const;

/** @throws ConfigError */
function read(argv: readonly string[]) {
  const { flags, words } = readCommandLine(argv, {}, ownFlags, []);
  if (words.length > 0) throw new ConfigError(help);
  const { port, data, seed, scale, webhook, 'rate-limit': limit } = flags;
  const requests = number('--rate-limit', limit === 'off' ? '1' : limit, 1, 1e9) ?? 500;
  if (webhook !== undefined && !/^https?:\/\//.test(webhook))
    throw new ConfigError('--webhook must be a web address');
  return {
    port: number('--port', port, 0, 65_535),
    file: data,
    seed: number('--seed', seed, 0, 2 ** 32),
    scale: number('--scale', scale, 0.01, 100),
    rateLimit: limit !== 'off' && { requests, windowSeconds: 600 },
    webhooks: webhook === undefined ? [] : [{ url: webhook }],
  };
}

function number(flag: string, given: string | undefined, min: number, max: number) {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() !== '' && value >= min && value <= max) return value;
  throw new ConfigError(`${flag} must be a number from ${min} to ${max}, not "${given}"`);
}
