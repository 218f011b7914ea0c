import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { ConfigError, environmentName } from '../config.ts';
import { messageOf } from '../values.ts';

export const help = `Use: cpq-mcp sandbox [--port P] [--data FILE] [--seed N] [--scale N] [--rate-limit N|off] [--webhook URL[#SECRET]]
Flags:
  --port P         port on 127.0.0.1; default: any free one
  --data FILE      SQLite file for the data; default: in memory
  --seed N         the same seed gives the same data and keys; default: 1
  --scale N        multiplies the number of records, 0.01 to 100; default: 1
  --rate-limit N   requests in ten minutes, or off; default: 500
  --webhook URL    send events there; what follows # is sent as the secret; can be repeated`;

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

function read(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const named = { port: text, data: text, seed: text, scale: text, 'rate-limit': text };
  const options = { ...named, webhook: { type: 'string', multiple: true } } as const;
  try {
    const { values } = parseArgs({ args: [...argv], options });
    const limit = values['rate-limit'];
    const requests = number('--rate-limit', limit === 'off' ? '1' : limit, 1, 1e9) ?? 500;
    return {
      port: number('--port', values.port, 0, 65_535),
      file: values.data,
      seed: number('--seed', values.seed, 0, 2 ** 32),
      scale: number('--scale', values.scale, 0.01, 100),
      rateLimit: limit !== 'off' && { requests, windowSeconds: 600 },
      webhooks: (values.webhook ?? []).map(webhookFrom),
    };
  } catch (error) {
    throw new ConfigError(`${messageOf(error).split('. ')[0]}. ${help}`);
  }
}

/** The target of webhooks; the part after `#` is the secret. */
function webhookFrom(text: string): { url: string; secret?: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new RangeError('--webhook must be a web address, optionally followed by #SECRET');
  const secret = decodeURIComponent(url.hash.slice(1));
  url.hash = '';
  return secret === '' ? { url: url.href } : { url: url.href, secret };
}

function number(flag: string, text: string | undefined, min: number, max: number) {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw new RangeError(`${flag} must be a number from ${min} to ${max}, not "${text}"`);
}
