import { describe, expect, test } from 'vitest';
import { everything, type Row } from '../support/hosts.ts';
import { inProcess } from '../support/in-process.ts';
import { serviceRecords } from '../support/samples.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { openInDom } from '../support/view-dom.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const address = async () => addressIn(await sandbox(), 'all');
const server = inProcess.serving(address, everything);
const first = async (path: string) => (await serviceRecords(await address(), path, '?size=1'))[0];

interface Shown {
  args(): Promise<Row>;
  /** Texts of the data that the view shows. */
  facts(data: Row): unknown[];
}
const rowsAt = (data: Row, ...path: string[]): Row[] =>
  (path.reduce<unknown>((it, name) => (it as Row | undefined)?.[name], data) as Row[]) ?? [];

const views: Record<string, Shown> = {
  cpq_brief_pipeline: {
    args: async () => ({}),
    facts: (data) => rowsAt(data, 'overdue', 'rows').map(({ name }) => name),
  },
  cpq_brief_quotes: {
    args: async () => ({}),
    facts: (data) => rowsAt(data, 'quotes', 'rows').map(({ number }) => number),
  },
  cpq_brief_quote: {
    args: async () => ({ quote: (await first('/quote'))?.id }),
    facts: (data) => rowsAt(data, 'lines', 'rows').map(({ name }) => name),
  },
  cpq_brief_company: {
    args: async () => ({ company: (await first('/company'))?.id }),
    facts: (data) => [(data.company as Row).name],
  },
};

/** The parts of a coverage as a view says them. */
const complete = /all \d[\d,]* records read/;

describe.each(Object.entries(views))('the view of %s', (tool, { args, facts }) => {
  test('connects to a host of the SDK, and shows the data', async () => {
    const connection = await server();
    const given = await args();
    const { data } = await connection.call(tool, given);
    const expected = facts(data).map(String);
    expect(expected.length).toBeGreaterThan(0);
    const view = await openInDom(connection, tool, given);
    for (const fact of expected) await until(view.text).toContain(fact);
    expect(view.text()).toMatch(complete);
  });

  test('says that an answer is not complete', async () => {
    const coverage = {
      complete: false,
      read: 3,
      total: 1_007,
      asOf: '2026-11-24T10:00:00Z',
      reason: 'out of time',
    };
    const view = await openInDom(await server(), tool, await args(), (result) => ({
      ...result,
      structuredContent: { ...(result.structuredContent as Row), coverage },
    }));
    await until(view.text).toContain('only 3 of 1,007 records read: out of time');
    expect(view.text()).not.toMatch(complete);
  });

  test('reads the data itself where the host passes on the text alone', async () => {
    const given = await args();
    const view = await openInDom(await server(), tool, given, (result, isOwnCall) =>
      isOwnCall ? result : { content: result.content },
    );
    await until(view.text).toMatch(complete);
    expect(view.calls[0]).toMatchObject({ name: tool, arguments: given });
  });

  test('listens to its host and to no other window', async () => {
    const view = await openInDom(await server(), tool, await args());
    await until(view.text).toMatch(complete);
    const cancelled = { jsonrpc: '2.0', method: 'ui/notifications/tool-cancelled', params: {} };
    const told = 'The call was cancelled.';
    for (const sender of [{}, null]) view.deliver(cancelled, sender);
    await new Promise((resolve) => setTimeout(resolve));
    expect(view.text()).not.toContain(told);
    view.deliver(cancelled, view.host);
    await until(view.text).toContain(told);
  });
});
