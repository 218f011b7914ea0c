// Who takes part: a server written by hand, ours, and the SDK as its documentation shows it.
import { fileURLToPath } from 'node:url';
import { startProcess, waitForOutput } from './processes.mjs';

const own = (name) => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));

/** `ours` is the bundle, as it is shipped. */
export function candidatesOf(bundle) {
  const ours = { stdio: [bundle, 'stdio'], http: [bundle, 'http', '--port', '0'] };
  return {
    bare: { stdio: [own('minimal-stdio')], http: [own('minimal-http')] },
    ours,
    sdk: { stdio: [own('sdk-stdio')], http: [own('sdk-http')] },
  };
}

/** Settings of every candidate; the budget is out of the way, because it is not what is measured. */
export const settingsFor = (baseUrl, key = 'bench-key', more = {}) => ({
  CPQ_BASE_URL: baseUrl,
  CPQ_API_KEY: key,
  CPQ_RATE_LIMIT: '1000000',
  ...more,
});

/** Starts one over HTTP. */
export async function serve(argv, env) {
  const child = startProcess(argv, env);
  const [url] = await waitForOutput(child, /http:\/\/[^\s"']+\/mcp\b/);
  return { child, url };
}
