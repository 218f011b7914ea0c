import type { SandboxOptions } from '../../src/sandbox/index.ts';
import type { Row } from './hosts.ts';
import { type Address, addressIn, type KeyName, type Sandbox, startSandbox } from './sandbox.ts';
import { shared } from './shared.ts';

interface Options extends SandboxOptions {
  /** Its usual key; default: the one that reads all. */
  as?: KeyName;
  /** Changes the data before the first request. */
  change?: (sandbox: Sandbox) => void;
}

/** The embedded tenant of a test file, started when one of the tests needs it. */
export interface EmbeddedTenant {
  sandbox(): Promise<Sandbox>;
  address(key?: KeyName): Promise<Address>;
  /** Runs a statement; its first `?` is the tenant. @returns the rows of a query */
  sql(statement: string, ...more: (string | number)[]): Promise<Row[]>;
}

export function embeddedTenant({
  as = 'read',
  change = () => {},
  ...options
}: Options = {}): EmbeddedTenant {
  const sandbox = shared(async () => {
    const started = await startSandbox(options);
    change(started);
    return started;
  });
  return {
    sandbox,
    address: async (key = as) => addressIn(await sandbox(), key),
    async sql(statement, ...more) {
      const { database, tenants } = await sandbox();
      return database.prepare(statement).all(tenants[0].name, ...more) as Row[];
    },
  };
}
