import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, inject, test } from 'vitest';
import { closing, newFolder, shared } from '../support/shared.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** A project with the package and its dependencies, as npm installs them. */
const project = shared(async () => {
  const folder = newFolder();
  const installed = join(folder, 'node_modules', 'cpq-mcp');
  await mkdir(installed, { recursive: true });
  await cp(dirname(inject('bundle')), join(installed, 'dist'), { recursive: true });
  await cp(join(root, 'package.json'), join(installed, 'package.json'));
  for (const name of ['@modelcontextprotocol', '@types', 'node-sqlite3-wasm', 'undici-types']) {
    const from = join(root, 'node_modules', name);
    await symlink(from, join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
});

describe('the examples', () => {
  test('run in memory', async () => {
    const folder = await project();
    await cp(join(root, 'examples', 'embed.mjs'), join(folder, 'embed.mjs'));
    const { stdout } = await execute(process.execPath, ['embed.mjs'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder },
    });
    expect(stdout).toMatch(/^\d+ tools: cpq_list_companies, cpq_list_opportunities,/);
    expect(stdout).toMatch(/\n\n3 of \d+ opportunities/);
  });

  test('run for many tenants, and ask their user', async () => {
    const folder = await project();
    await cp(join(root, 'examples', 'many-tenants.mjs'), join(folder, 'many-tenants.mjs'));
    const env = { PATH: process.env.PATH, HOME: folder };
    const program = spawn(process.execPath, ['many-tenants.mjs'], { cwd: folder, env });
    closing({ close: async () => program.kill('SIGKILL') });
    let output = '';
    for (const reply of ['y\n', 'n\n']) {
      for await (const text of program.stdout.iterator({ destroyOnReturn: false })) {
        output += text;
        if (output.endsWith('[y/N] ')) break;
      }
      program.stdin.write(reply);
    }
    for await (const text of program.stdout) output += text;
    expect(output).toContain('acme: Written: new opportunity "Renewal of the support plan"');
    expect(output).toContain('globex: The person did not agree.');
  });

  test('run over HTTP, with a token', async () => {
    const folder = await project();
    await cp(join(root, 'examples', 'http.mjs'), join(folder, 'http.mjs'));
    const env = { PATH: process.env.PATH, HOME: folder, MCP_TOKEN: 'open', PORT: '0' };
    const service = spawn(process.execPath, ['http.mjs'], { cwd: folder, env });
    closing({ close: async () => service.kill('SIGKILL') });
    const [line] = await once(service.stdout, 'data');
    const url = new URL(String(line).trim());
    const clientWith = async (authorization: string) => {
      const client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { authorization } };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      return client;
    };
    const client = await clientWith('Bearer open');
    expect(
      JSON.stringify(await client.callTool({ name: 'cpq_list_companies', arguments: { size: 2 } })),
    ).toContain('2 of');
    await client.close();
    await expect(clientWith('Bearer shut')).rejects.toThrow();
    const traced = request(url, { method: 'TRACE', headers: { authorization: 'Bearer open' } });
    const [{ statusCode }] = await once(traced.end(), 'response');
    expect(statusCode).toBe(400);
    const exited = once(service, 'exit');
    service.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});

describe('a program that has the package installed', () => {
  const strict = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
    },
  };
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  );

  async function compile(
    name: string,
    source: string,
    options: Record<string, unknown>,
  ): Promise<string> {
    const folder = join(await project(), name);
    await mkdir(folder);
    await writeFile(join(folder, 'use.ts'), source);
    const { compilerOptions } = strict;
    const config = { compilerOptions: { ...compilerOptions, ...options }, files: ['use.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiled = execute(process.execPath, [compiler, '-p', folder]);
    return compiled.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  }

  test('compiles strictly against its types alone, with Node’s and with the browser’s', async () => {
    const source = `import { createCpqServer, CpqOptionError, type CpqServer } from 'cpq-mcp';
      const apiKey: string | undefined = undefined;
      const cpq: CpqServer = await createCpqServer({ apiKey, sandbox: true, grants: ['read'] });
      const response: Response = await cpq.fetch(new Request('http://host/mcp'));
      export const status: number = response.status;
      export const isOurs = (error: unknown): boolean => error instanceof CpqOptionError;
      await cpq.close();\n`;
    expect(await compile('node', source, { skipLibCheck: false })).toBe('');
    const dom = { skipLibCheck: false, types: [], lib: ['es2023', 'dom'] };
    expect(await compile('dom', source, dom)).toBe('');
  });

  test('compiles with the transports of both lines of the SDK', async () => {
    const source = `import { InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
      import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
      import { InMemoryTransport as First } from '@modelcontextprotocol/sdk/inMemory.js';
      import type { Transport as FirstTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
      import { createCpqServer } from 'cpq-mcp';
      const cpq = await createCpqServer({ sandbox: true });
      cpq.connect(InMemoryTransport.createLinkedPair()[0]);
      cpq.connect(First.createLinkedPair()[0]);
      cpq.connect(new StdioServerTransport());
      export const both = (a: Transport, b: FirstTransport) => [cpq.connect(a), cpq.connect(b)];\n`;
    expect(await compile('transports', source, { skipLibCheck: true })).toBe('');
  });

  test('gets compiler errors for wrong options', async () => {
    const source = `import { createCpqServer } from 'cpq-mcp';
      await createCpqServer({ grants: ['everything'] });
      await createCpqServer({ colour: 'red' });\n`;
    const output = await compile('wrong', source, { skipLibCheck: true });
    expect(output.match(/error TS/g)).toHaveLength(2);
  });

  test('gets types without other dependencies', async () => {
    const types = await readFile(
      join(await project(), 'node_modules', 'cpq-mcp', 'dist', 'index.d.ts'),
      'utf8',
    );
    expect(types).not.toMatch(/\bimport\b|\bfrom\b ['"]/);
    expect(types).toContain('export declare function createCpqServer(');
  });
});
