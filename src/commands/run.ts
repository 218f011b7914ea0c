import { environmentName } from '../config/settings.ts';
import { ConfigError } from '../config.ts';
import { isOneOf, messageOf } from '../values.ts';
import { version } from '../version.ts';
import type { CommandContext } from './start.ts';
import { stdio } from './stdio.ts';

interface Command {
  run(argv: readonly string[], context: CommandContext): Promise<void>;
  /** Default: the flags of the settings. */
  help?: string;
}

/** All commands but stdio are loaded on demand. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  stdio: async () => ({ run: stdio }),
  http: () => import('./http.ts'),
  sandbox: () => import('./sandbox.ts'),
  doctor: () => import('./doctor.ts'),
  demo: () => import('./demo.ts'),
  connect: () => import('./connect.ts'),
  config: () => import('./config.ts'),
  token: () => import('./token.ts'),
  changes: () => import('./changes.ts'),
  export: () => import('./export.ts'),
  forget: () => import('./forget.ts'),
};

const help = `cpq-mcp ${version}: Model Context Protocol server for quotes and the sales pipeline

  cpq-mcp [stdio]       serve one client over stdin and stdout
  cpq-mcp http          serve over HTTP at http://127.0.0.1:3333/mcp
  cpq-mcp connect HOST  ask for address and key, check them, and add the server to an assistant
  cpq-mcp config HOST   print an assistant's configuration, or install it with --write
  cpq-mcp doctor        check settings, address, key, routes and paging, of every tenant
  cpq-mcp export TOOL   print the rows of any answer as CSV or JSON
  cpq-mcp changes       list what was written, or take it back
  cpq-mcp token         add, renew, list and revoke access tokens of a shared server
  cpq-mcp forget        list or delete what is stored about tenants
  cpq-mcp demo          show four answers from the embedded tenant
  cpq-mcp sandbox       run the embedded tenant alone

cpq-mcp COMMAND --help lists the flags of a command, of http every setting. The five that matter:
  ${environmentName('baseUrl')}, ${environmentName('apiKeyFile')}: the tenant's address, and a file with its key; --sandbox needs neither
  ${environmentName('grants')}, ${environmentName('allowedStages')}: what may be read or written (default: read), and the only stages that may be set
  ${environmentName('stateDir')}: where the journal, events and history are kept
`;

/** @throws what is printed */
async function run(argv: readonly string[], context: CommandContext): Promise<unknown> {
  const { stdout } = context;
  const [first, ...rest] = argv;
  const named = first !== undefined && !first.startsWith('-');
  const name = named ? first : 'stdio';
  if (name !== 'stdio' || rest.includes('--help')) endWithReader(stdout);
  if (first === 'help' && rest.length > 0) return run([...rest, '--help'], context);
  if (isOneOf(['--help', '-h', 'help'], first)) return stdout.write(help);
  if (isOneOf(['--version', '-v', 'version'], first)) return stdout.write(`${version}\n`);
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw new ConfigError('There is no such command. Try: cpq-mcp --help');
  const command = await load();
  if (rest.includes('--help') || rest.includes('-h')) {
    const { flagsOf } = await import('./flags.ts');
    return stdout.write(command.help ? `${command.help}\n` : flagsOf(name));
  }
  return command.run(named ? rest : argv, context);
}

/** The reader of a pipe, such as `head`, may stop before the end of the output. */
function endWithReader(stdout: CommandContext['stdout']): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

/** Runs a command to its end. @returns the exit status */
export const start = (argv: readonly string[], context: CommandContext): Promise<number> =>
  run(argv, context).then(
    () => 0,
    (error: unknown) => {
      context.stderr.write(`cpq-mcp: ${messageOf(error)}\n`);
      return error instanceof ConfigError ? 2 : 1;
    },
  );
