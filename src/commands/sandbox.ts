import { once } from 'node:events';
import { environmentName } from '../config/settings.ts';
import { ConfigError, parseAs, readCommandLine } from '../config.ts';
import { InvalidValue, type ParseValue, webAddress, wholeNumber } from '../setting-values.ts';

export const help = `Use: cpq-mcp sandbox [--port P] [--data FILE] [--seed N] [--scale N] [--rate-limit N|off] [--webhook URL]
Flags:
  --port P         port on 127.0.0.1; default: any free one
  --data FILE      SQLite file for the data; default: in memory
  --seed N         the same seed gives the same data and keys; default: 1
  --scale N        multiplies the number of records, 0.01 to 100; default: 1
  --rate-limit N   requests in ten minutes, or off; default: 500
  --webhook URL    send events there, such as http://127.0.0.1:3333/webhooks/default/SECRET`;

export async function run(argv: readonly string[]): Promise<void> {
  const options = optionsFrom(argv);
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

function optionsFrom(argv: readonly string[]) {
  const { flags, words } = readCommandLine(argv, {}, ownFlags, []);
  if (words.length > 0) throw new ConfigError(help);
  const read = <T>(flag: keyof typeof ownFlags, parse: ParseValue<T>): T | undefined => {
    const { [flag]: given } = flags;
    return given === undefined ? undefined : parseAs(`--${flag}`, () => parse(given));
  };
  const webhook = read('webhook', webAddress);
  return {
    port: read('port', wholeNumber(0, 65_535)),
    file: flags.data,
    seed: read('seed', wholeNumber(0, 2 ** 32)),
    scale: read('scale', parseScale),
    rateLimit: read('rate-limit', parseLimit),
    webhooks: webhook === undefined ? [] : [{ url: webhook.href }],
  };
}

function parseScale(given: string): number {
  const scale = given.trim() === '' ? Number.NaN : Number(given);
  if (scale >= 0.01 && scale <= 100) return scale;
  throw new InvalidValue('must be a number from 0.01 to 100');
}

const parseLimit = (given: string) =>
  given !== 'off' && { requests: wholeNumber(1, 1e9)(given), windowSeconds: 600 };
