import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { basename } from 'node:path';
import { environmentName, type SettingName, type Settings } from '../config/settings.ts';
import { ConfigError, parseAs, readSettings } from '../config.ts';
import { type GuessLimiter, guessLimiter, openGate } from '../hosts/access/gate.ts';
import { bearerToken } from '../hosts/access/http-error.ts';
import { parseNetworks } from '../hosts/access/networks.ts';
import { type CallerLimits, FairQueue } from '../hosts/fair-queue.ts';
import { serveHttp } from '../hosts/http.ts';
import { createServerObserver, currentRequest, type ServerObserver } from '../hosts/observer.ts';
import { type WebhookHandler, webhookHandler } from '../hosts/webhooks.ts';
import { factsOf, type Log } from '../log.ts';
import { isSameSecret } from '../mcp/signature.ts';
import { isLoopback } from '../setting-values.ts';
import { StateUnavailable } from '../state/port.ts';
import { version } from '../version.ts';
import { type CommandContext, openLog } from './start.ts';
import { openCommon, type TenantHandle } from './tenant-handle.ts';
import { type ConfiguredTenants, configuredTenants } from './tenants.ts';

/** Serves MCP over HTTP until SIGINT or SIGTERM. */
export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const read = () => readSettings(argv, context.env);
  const settings = read();
  const { signals, stdout } = context;
  // During the start, too, so that a signal does not end the process halfway, or is ignored by that of a container.
  const stopped = Promise.race([once(signals, 'SIGINT'), once(signals, 'SIGTERM')]);
  let tenants: ConfiguredTenants | undefined;
  const reload = () => {
    try {
      if (tenants) log.warn('tenants reloaded', tenants.reload(read()));
    } catch (error) {
      log.error('tenants not reloaded: the previous ones stay active', factsOf(error));
    }
  };
  signals.on('SIGHUP', reload);
  requireAuth(settings);
  // On an unauthenticated server, request ids are only worth their cost if every call is logged.
  const tracksRequests = settings.auth.size > 0 || ['info', 'debug'].includes(settings.logLevel);
  const log = openLog(settings, context, tracksRequests ? currentRequest : undefined);
  for (const warning of settingProblems(settings)) log.warn('settings', { warning });
  const observer = createServerObserver({ log, tracksRequests });
  const common = await openCommon(settings, log, (name) => observer.tenant(name));
  const { state } = common;
  tenants = await configuredTenants(settings, common);
  const proxies = () => parseNetworks(settings.trustedProxies);
  const guesses = guessLimiter(parseAs(environmentName('trustedProxies'), proxies));
  const gate =
    settings.auth.size > 0
      ? await (await import('./auth-strategies.ts')).gateFor(settings, tenants, common, guesses)
      : openGate(() => onlyEndpoint(tenants));
  const queue = settings.auth.size > 0 ? new FairQueue(limitsOf(settings)) : undefined;
  // What the first call, and all others in flight, would wait for.
  await Promise.all([import('../../tools/catalog.ts'), import('../service/connections/pool.ts')]);
  const host = await serveHttp(gate, {
    host: settings.host,
    port: settings.port,
    allowedHosts: [
      ...settings.allowedHosts,
      ...(settings.publicUrl ? [settings.publicUrl.hostname] : []),
    ],
    localOnly: settings.auth.size === 0,
    preview: isPreviewShown(settings),
    fastPath: settings.fastPath === 'on',
    webhooks: webhooksOf(tenants, log, observer, guesses),
    onError: (error) => log.warn('protocol', factsOf(error)),
    health: () => state.health(),
    observer,
    mayReadMetrics: metricsReader(settings, guesses),
    queue,
  }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(listenError(error, settings), { cause: error });
  });
  stdout.write(connectInstructions(host.url, settings, tenants));
  await stopped;
  signals.off('SIGHUP', reload);
  await host.close();
  await tenants.close();
  await state.close();
}

/** Refuses to serve other machines, or several tenants, without authentication. */
function requireAuth(settings: Settings): void {
  const { auth, host, publicUrl, trustedProxies, allowedHosts, tenantsFile } = settings;
  const reasons: [SettingName, isSet: boolean][] = [
    ['publicUrl', publicUrl !== undefined],
    ['trustedProxies', trustedProxies.length > 0],
    ['allowedHosts', !allowedHosts.every(isLoopback)],
    ['host', !isLoopback(host)],
    ['tenantsFile', tenantsFile !== undefined],
  ];
  const [name] = reasons.find(([, isSet]) => isSet) ?? [];
  if (auth.size > 0 || name === undefined) return;
  throw new ConfigError(
    `${environmentName(name)}=${settings[name]}: the server has several tenants or can be reached from other machines, so callers must authenticate. Set ${environmentName('auth')} to token, oauth or key, or listen on 127.0.0.1.`,
  );
}

/** What is probably not what the operator meant. */
function settingProblems({ auth, tenantsFile, publicUrl, ...given }: Settings): string[] {
  const method = environmentName('auth');
  const unused: [name: 'oauthIssuer' | 'keyBaseUrls' | 'webhookSecret', why: string | false][] = [
    ['oauthIssuer', !auth.has('oauth') && `${method} does not name oauth`],
    ['keyBaseUrls', !auth.has('key') && `${method} does not name key`],
    ['webhookSecret', tenantsFile !== undefined && 'the tenants file has one for each tenant'],
  ];
  const problems = unused.flatMap(([name, why]) =>
    why && given[name]?.length ? [`${environmentName(name)} has no effect: ${why}`] : [],
  );
  if (publicUrl && !publicUrl.pathname.endsWith('/mcp'))
    problems.push(`${environmentName('publicUrl')} does not end in /mcp, where MCP is served`);
  return problems;
}

function onlyEndpoint({ handles: [only] }: ConfiguredTenants): TenantHandle['endpoint'] {
  if (!only) throw new ConfigError('There is no tenant to serve.');
  return only.endpoint;
}

/** Handles webhooks only while a tenant has a webhook secret. */
function webhooksOf(
  tenants: ConfiguredTenants,
  log: Log,
  { onDelivery }: ServerObserver,
  guesses: GuessLimiter,
): WebhookHandler {
  const onError = (error: unknown) => {
    // Loss of the shared state is logged once, not for each delivery.
    if (!(error instanceof StateUnavailable)) log.error('webhook not stored', factsOf(error));
  };
  const tenant = (name: string) => tenants.find(name)?.webhooks;
  const handle = webhookHandler({ tenant, guesses, onError, onDelivery });
  return (...delivery) => tenants.handles.some(({ webhooks }) => webhooks) && handle(...delivery);
}

const limitsOf = ({ callsPerMinute }: Settings): CallerLimits => ({
  callsPerMinute,
  concurrentPerCaller: 16,
  queuedPerCaller: 64,
  concurrent: 128,
  waitMs: 30_000,
});

/** Metrics contain tenant names, so on an authenticated server they need a token. */
function metricsReader(
  { auth, metricsToken }: Settings,
  guesses: GuessLimiter,
): (request: IncomingMessage) => boolean {
  if (metricsToken === undefined) return () => auth.size === 0;
  return (request) => {
    if (request.headers.authorization === undefined) return false;
    const sender = guesses.senderOf(request);
    guesses.check(sender);
    const mayRead = isSameSecret(bearerToken(request) ?? '', metricsToken);
    if (!mayRead) guesses.count(sender);
    return mayRead;
  };
}

/** The preview shows embedded data, on this machine: no other reaches a server without authentication. */
const isPreviewShown = ({ sandbox, auth }: Settings): boolean => sandbox && auth.size === 0;

function listenError({ code, message }: NodeJS.ErrnoException, { host, port }: Settings): string {
  const why = code === 'EADDRINUSE' ? 'is in use by another program' : `is not usable: ${message}`;
  return `${host}, port ${port} ${why}. Choose another port with --port; 0 selects a free one.`;
}

function connectInstructions(url: string, settings: Settings, { handles }: ConfiguredTenants) {
  const { auth, publicUrl, sandbox } = settings;
  const address = publicUrl?.href ?? url;
  const isOpen = auth.size === 0;
  const names = handles.map(({ name, tenant }) => (isOpen ? tenant.site.host : name)).join(', ');
  const what = sandbox ? 'the embedded tenant' : names || 'callers';
  const how = isOpen ? '' : `; callers authenticate by ${[...auth].join(', ')}`;
  const methods = isOpen ? [''] : [...auth].map((method) => ` --auth ${method}`);
  const add = `${program()} token add NAME${handles.length > 1 ? ' --tenant TENANT' : ''}`;
  const lines = [
    `cpq-mcp ${version} serves ${what} at ${address}${how}\n`,
    ...(auth.has('token') ? [`Create an access token: ${add}`] : []),
    ...(isOpen ? [`Connect Claude Code:    claude mcp add --transport http cpq-mcp ${url}`] : []),
    ...methods.map(
      (method) => `Connect an assistant:   ${program()} config HOST --http ${address}${method}`,
    ),
    ...webhookAddresses(address, handles),
    ...(isPreviewShown(settings) ? [`Preview of its views:   ${new URL('/preview', url)}`] : []),
    '\nStop with Ctrl-C.\n',
  ];
  return lines.join('\n');
}

/** Where the service sends webhooks of each tenant that receives them. @param endpoint the URL of `/mcp` that callers use */
function webhookAddresses(endpoint: string, tenants: readonly TenantHandle[]): string[] {
  const receivers = tenants.filter(({ webhooks }) => webhooks);
  const urls = receivers.map(({ name }) => new URL(`webhooks/${name}`, endpoint).href);
  return urls.length === 0 ? [] : [`\nWebhooks: ${urls.join('\n          ')}`];
}

/** How to run another command of this copy, which may be on no path. */
function program(): string {
  const path = process.argv[1] ?? '';
  if (basename(path) === 'cpq-mcp') return 'cpq-mcp';
  return `node ${path.includes(' ') ? `"${path}"` : path}`;
}
