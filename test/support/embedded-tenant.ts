import type { SandboxOptions } from '../../src/sandbox/index.ts';
import {
  type Connection,
  type Host,
  type Row,
  type ServerSettings,
  type Serving,
  serving,
} from './hosts.ts';
import { inProcess } from './in-process.ts';
import { type Address, addressIn, type KeyName, type Sandbox, startSandbox } from './sandbox.ts';
import { shared } from './shared.ts';

interface Options extends SandboxOptions {
  /** The key of its server; default: the one that reads all. */
  as?: KeyName;
  /** Changes the data before the first request. */
  change?: (sandbox: Sandbox) => void;
  /** Of its server. */
  settings?: ServerSettings;
}

/** The embedded tenant of a test file, started when one of the tests needs it, with a server in this process. */
export interface EmbeddedTenant {
  sandbox(): Promise<Sandbox>;
  address(key?: KeyName): Promise<Address>;
  /** Runs a statement; its first `?` is the tenant. @returns the rows of a query */
  sql(statement: string, ...more: (string | number)[]): Promise<Row[]>;
  /** The same for all tests of the file. */
  server: Serving;
  /** Another server of the tenant. */
  open(settings?: ServerSettings & { as?: KeyName; on?: Pick<Host, 'start'> }): Promise<Connection>;
}

export function embeddedTenant({
  as = 'read',
  change = () => {},
  settings,
  ...options
}: Options = {}): EmbeddedTenant {
  const sandbox = shared(async () => {
    const started = await startSandbox(options);
    change(started);
    return started;
  });
  const address = async (key: KeyName = as) => addressIn(await sandbox(), key);
  const sql: EmbeddedTenant['sql'] = async (statement, ...more) => {
    const { database, tenants } = await sandbox();
    return database.prepare(statement).all(tenants[0].name, ...more) as Row[];
  };
  const open: EmbeddedTenant['open'] = async ({ as: key, on = inProcess, ...own } = {}) =>
    on.start(await address(key), own);
  return { sandbox, address, sql, open, server: serving(() => open(settings)) };
}
