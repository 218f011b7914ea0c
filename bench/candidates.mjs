// The servers that are compared: a minimal hand-written proxy, cpq-mcp, and a server made with the SDK alone.
import { fileURLToPath } from 'node:url';
import { startProcess, waitForOutput } from './processes.mjs';

const own = (name) => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));

/** `cpq` is this server's bundle, as it is shipped. */
export function candidatesOf(bundle) {
  const cpq = { stdio: [bundle, 'stdio'], http: [bundle, 'http', '--port', '0'] };
  return {
    minimal: { stdio: [own('minimal-stdio')], http: [own('minimal-http')] },
    cpq,
    sdk: { stdio: [own('sdk-stdio')], http: [own('sdk-http')] },
  };
}

/** Settings of every candidate. The rate limit is out of reach, because it is not measured. */
export const settingsFor = (baseUrl, key = 'bench-key', more = {}) => ({
  CPQ_BASE_URL: baseUrl,
  CPQ_API_KEY: key,
  CPQ_RATE_LIMIT: '1000000',
  ...more,
});

/** Starts a candidate over HTTP. */
export async function serve(argv, env, options) {
  const child = startProcess(argv, env, options);
  const [url] = await waitForOutput(child, /http:\/\/[^\s"']+\/mcp\b/);
  return { child, url };
}
