import { ConfigError, environmentName } from '../config.ts';
import { messageOf } from '../values.ts';
import { version } from '../version.ts';
import { stdio } from './stdio.ts';

type Command = (argv: readonly string[]) => Promise<void>;

/** All commands but stdio are loaded on demand. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  stdio: async () => stdio,
  http: async () => (await import('./http.ts')).http,
  sandbox: async () => (await import('./sandbox.ts')).sandbox,
  doctor: async () => (await import('./doctor.ts')).doctor,
  demo: async () => (await import('./demo.ts')).demo,
  config: async () => (await import('./config.ts')).config,
  token: async () => (await import('./token.ts')).token,
  history: async () => (await import('./history.ts')).history,
};

/** Usage texts of commands with arguments of their own. */
const usages: Readonly<Record<string, () => Promise<string>>> = {
  sandbox: async () => `${(await import('./sandbox.ts')).help}\n`,
  config: async () => `${(await import('./config.ts')).help}\n`,
  token: async () => `${(await import('./token.ts')).help}\n`,
  history: async () => `${(await import('./history.ts')).usage}\n`,
  demo: async () => 'Use: cpq-mcp demo\nIt takes no flags.\n',
  stdio: async () => (await import('./flags.ts')).flagsOf('stdio'),
  http: async () => (await import('./flags.ts')).flagsOf('http'),
  doctor: async () => (await import('./flags.ts')).flagsOf('doctor'),
};

const help = `cpq-mcp ${version}: Model Context Protocol server for quotes and the sales pipeline

  cpq-mcp [stdio]     serve one client over stdin and stdout
  cpq-mcp http        serve over HTTP at http://127.0.0.1:3333/mcp
  cpq-mcp sandbox     run the embedded tenant alone
  cpq-mcp doctor      check settings, address, key, routes and paging
  cpq-mcp demo        show four answers from the embedded tenant
  cpq-mcp token       add, list and revoke access tokens of a shared server
  cpq-mcp history     list or delete the snapshots of the pipeline
  cpq-mcp config HOST print an assistant's configuration, or install it with --write

cpq-mcp COMMAND --help lists the flags of a command.
With --sandbox, stdio and http serve the embedded tenant; without it they need ${environmentName('baseUrl')} and
${environmentName('apiKey')} (or ${environmentName('apiKeyFile')}). Every other setting is in the documentation.
`;

/** @returns the exit status; throws errors to be printed */
async function run(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  const named = first !== undefined && !first.startsWith('-');
  const name = named ? first : 'stdio';
  if (name !== 'stdio' || rest.includes('--help')) endWithReader();
  if (first === '--help' || first === '-h' || first === 'help') return print(help);
  if (first === '--version' || first === '-v') return print(`${version}\n`);
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw new ConfigError(`There is no command "${first}". Try: cpq-mcp --help`);
  if (rest.includes('--help') || rest.includes('-h'))
    return print((await usages[name]?.()) ?? help);
  const command = await load();
  await command(named ? rest : argv);
  return 0;
}

/** The reader of a pipe, such as `head`, may stop before the end of the output. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Runs a command and exits the process with its status. */
export function start(argv: readonly string[]): void {
  run(argv).then(
    (status) => {
      process.exitCode = status;
    },
    (error: unknown) => {
      const wrongUse = error instanceof ConfigError;
      process.stderr.write(`cpq-mcp: ${messageOf(error)}\n`);
      process.exit(wrongUse ? 2 : 1);
    },
  );
}
