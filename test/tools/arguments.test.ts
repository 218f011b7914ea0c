import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonSchema } from '../../src/mcp/listing.ts';
import { parseArguments } from '../../src/mcp/tool-run.ts';
import type { InvalidArguments } from '../../src/tenant/invalid-arguments.ts';
import { catalog } from '../../tools/catalog.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import fc from '../support/fast-check.ts';
import { type Answer, everyHostHere, everything, type Row, serving } from '../support/hosts.ts';
import { readTools, sampleFor } from '../support/samples.ts';
import { quickOrAll, sample } from '../support/sampling.ts';

interface Schema {
  type: string;
  enum?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

const { address } = embeddedTenant({ scale: 0.2, as: 'all' });
const server = serving({ at: address, ...everything });

/** Every argument of every tool with its complete schema, which checks more than the listed one. */
const everyArgument: [tool: string, argument: string, schema: Schema][] = catalog.flatMap(
  (tool) => {
    const { properties = {} } = z.toJSONSchema(tool.input, { io: 'input' });
    return Object.entries(properties).map(([argument, schema]): [string, string, Schema] => [
      tool.name,
      argument,
      schema as unknown as Schema,
    ]);
  },
);

const oddities = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', ' ', 'null', '[]', '{}', '[[', '-1', '1e999', 'NaN', 'Infinity', '__proto__'),
  fc.constantFrom('‮abc', '\u0000', '\ud800', 'a,b|c:d', '%2B', '../..', 'constructor'),
  fc.integer({ min: -5, max: 2_000_000 }),
  fc.array(fc.string(), { maxLength: 5 }),
);

for (const host of sample(everyHostHere, 4)) {
  describe(host.name, () => {
    const server = serving({ at: address, on: host, ...everything });

    test('an unknown argument is reported with the known ones', async () => {
      const words = await server.refused('cpq_list_companies', { limit: 5, size: 3 });
      expect(words).toMatch(/^Unknown argument "limit"\. Known: size, from, query, /);
      expect(await server.refused('cpq_get_category_tree', { a: 1, b: 2 })).toMatch(
        /^Unknown arguments "a", "b"\. Known: depth, detail\.$/,
      );
    });

    test('an argument that one other tool takes is reported with this tool', async () => {
      expect(
        await server.refused('cpq_pipeline_changes', { target: 5, rates: 'CAD=0.7 USD' }),
      ).toMatch(
        /^Unknown arguments "target", "rates"\. cpq_brief_pipeline takes them\. Known: since, /,
      );
      expect(await server.refused('cpq_brief_quotes', { filters: 'a:b' })).not.toContain(
        'takes it',
      );
    });

    test('a size out of range is reported with the range', async () => {
      for (const size of [1_000, 0, -1, 2.5, '1000', 'many']) {
        expect(await server.refused('cpq_list_quotes', { size })).toBe(
          `size must be a whole number 1–100, not ${JSON.stringify(Number.isNaN(Number(size)) ? size : Number(size))}.`,
        );
      }
    });

    test('several wrong entries of a list are reported once', async () => {
      const words = await server.refused('cpq_brief_pipeline', { sections: ['zz', 'yy', 'xx'] });
      expect(words.match(/must be/g)).toHaveLength(1);
    });

    test('an unknown tool is an error of the protocol', async () => {
      await expect(server.ask('cpq_list_orders')).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('Unknown tool "cpq_list_orders"'),
      });
    });

    test('common mistakes of models are repaired', async () => {
      const right = await server.call('cpq_list_contacts', { size: 2, fields: ['name', 'email'] });
      const wrong = { size: ' 2 ', fields: 'name, email', query: null, from: null, detail: null };
      expect((await server.call('cpq_list_contacts', wrong)).records).toEqual(right.records);
    });

    test('any JSON in place of the arguments is answered or a protocol error', async () => {
      const params = fc.record({ name: fc.constant('cpq_list_companies'), arguments: oddities });
      await fc.assert(
        fc.asyncProperty(params, async (given) => {
          const outcome = await server
            .request('tools/call', given as Row)
            .catch((error: Row) => error);
          expect(outcome).toSatisfy((it: Row) => 'content' in it || typeof it.code === 'number');
        }),
        { numRuns: 50 },
      );
      expect((await server.call('cpq_list_companies', { size: 1 })).records).toHaveLength(1);
    });

    test('no arguments mean the defaults', async () => {
      const { records } = await server.call('cpq_list_companies');
      expect((await server.call('cpq_list_companies', {})).records).toEqual(records);
      expect(records).toHaveLength(20);
    });
  });
}

/** A value of an argument, and how models write it. */
function formsOf({ type, enum: words, items }: Schema): [value: unknown, forms: unknown[]] {
  if (words) return [words[0], [words[0]?.toUpperCase(), ` ${words[0]} `]];
  const list = items?.enum?.slice(0, 2) ?? ['id', 'name'];
  const forms: Record<string, [unknown, unknown[]]> = {
    boolean: [true, ['true', 'True', ' TRUE ']],
    integer: [2, ['2', ' 2 ', '2.0']],
    number: [2.5, ['2.5', ' 2.5 ']],
    array: [list, [JSON.stringify(list), list.join(), ` ${list.join(', ')} `]],
    object: [{ a: 1 }, ['{"a":1}', ' {"a": 1}\n']],
    string: ['2026', [2026]],
  };
  return forms[type] ?? [undefined, []];
}

test('every argument of every tool is understood as models write it', () => {
  for (const [name, argument, schema] of everyArgument) {
    const shape: z.ZodRawShape = catalog.find((tool) => tool.name === name)?.input.shape ?? {};
    const check = z.object({ [argument]: shape[argument] ?? z.never() });
    const [value, forms] = formsOf(schema);
    const parsed = (form: unknown) => {
      const properties = { [argument]: schema };
      try {
        return parseArguments({ properties } as JsonSchema, check, { [argument]: form });
      } catch (error) {
        return (error as InvalidArguments).reason;
      }
    };
    for (const form of forms)
      expect(parsed(form), `${name} ${argument}: ${JSON.stringify(form)}`).toEqual(parsed(value));
  }
});

test('an empty list is as none, and a repeated entry as one, in every tool', async () => {
  const samples = await samplesOf();
  const lists = everyArgument.filter(([tool, , { type }]) => type === 'array' && isRead(tool));
  expect(lists.length).toBeGreaterThan(10);
  for (const [tool, argument, { items }] of lists) {
    const { [argument]: _, ...without } = samples[tool] ?? {};
    const [word = 'id'] = items?.enum ?? [];
    const [once, twice] = await Promise.all(
      [[word], [word, word]].map((given) => server.ask(tool, { ...without, [argument]: given })),
    );
    const untimed = ({ data: { coverage: __, ...data } }: Answer) => data;
    expect(twice && untimed(twice), `${tool} ${argument}`).toEqual(once && untimed(once));
    const answers = [without, { ...without, [argument]: [] }].map((args) => server.ask(tool, args));
    const [none, empty] = await Promise.all(answers);
    // A required one must name something.
    if (none?.isError) expect(empty?.isError, `${tool} ${argument}`).toBe(true);
    else expect(empty?.data.summary, `${tool} ${argument}`).toBe(none?.data.summary);
  }
});

describe('a wrong argument of any tool', () => {
  test('is refused by name, when it is unknown', async () => {
    for (const { name, inputSchema } of await server.tools()) {
      const words = await server.refused(name, { surely_unknown: 1 });
      expect(words).toContain('"surely_unknown"');
      for (const known of Object.keys(inputSchema.properties ?? {})) expect(words).toContain(known);
    }
  });

  test('is reported with its choices', async () => {
    const chosen = everyArgument.filter(([, , schema]) => schema.enum);
    expect(chosen.length).toBeGreaterThan(10);
    for (const [tool, argument, schema] of chosen) {
      const words = await server.refused(tool, { [argument]: 'none of them' });
      expect(words).toContain(`${argument} must be one of ${schema.enum?.join(', ')}`);
    }
  });

  test('that is a list is reported with the choices of its entries', async () => {
    const chosen = everyArgument.filter(([, , { items }]) => items?.enum);
    expect(chosen.map(([, argument]) => argument)).toContain('sections');
    for (const [tool, argument, { items }] of chosen) {
      const words = await server.refused(tool, { [argument]: ['none of them'] });
      expect(words).toContain(`${argument} must be a list of ${items?.enum?.join(', ')}, not`);
    }
  });

  test('is reported with its range', async () => {
    const ranged = everyArgument.filter(([, , schema]) => isRanged(schema));
    expect(ranged.length).toBeGreaterThan(10);
    for (const [tool, argument, { minimum = 0, maximum = 0 }] of ranged) {
      for (const [limit, beyond] of [
        [maximum, maximum + 1],
        [minimum, minimum - 1],
      ]) {
        const words = await server.refused(tool, { [argument]: beyond });
        const [, range = ''] =
          words.match(new RegExp(`${argument} must be (.*?), not ${beyond}`)) ?? [];
        expect(range.match(/-?\d+/g)).toContain(String(limit));
      }
    }
  });

  test('is reported with its maximum length', async () => {
    const short = everyArgument.filter(([, , { maxLength }]) => maxLength !== undefined);
    expect(short.length).toBeGreaterThan(5);
    for (const [tool, argument, { maxLength = 0 }] of short) {
      const words = await server.refused(tool, { [argument]: 'x'.repeat(maxLength + 1) });
      expect(words).toContain(`${argument} must be a string of at most ${maxLength} characters`);
      expect(words.length).toBeLessThan(1_000);
    }
  });

  test('is reported when required', async () => {
    for (const { name, inputSchema } of await server.tools()) {
      const required = inputSchema.required ?? [];
      if (required.length === 0) continue;
      const words = await server.refused(name, {});
      for (const argument of required) expect(words).toContain(`${argument} is required`);
    }
  });
});

describe('any JSON', () => {
  test('as the value of an argument is answered or refused', async () => {
    const known = everyArgument.filter(([tool]) => isRead(tool));
    const samples = await samplesOf();
    const call = fc.tuple(fc.constantFrom(...known), oddities);
    await fc.assert(
      fc.asyncProperty(call, async ([[tool, argument], value]) => {
        const args = { ...samples[tool], [argument]: value };
        expectWords(await server.ask(tool, args));
      }),
      { numRuns: quickOrAll(200, 600) },
    );
  });

  test('as several arguments, known and unknown, is answered or refused', async () => {
    const names = [...new Set(everyArgument.map(([, argument]) => argument))];
    const args = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), oddities);
    const tool = fc.constantFrom(...readTools.map(({ name }) => name));
    await fc.assert(
      fc.asyncProperty(tool, args, async (name, given) =>
        expectWords(await server.ask(name, given)),
      ),
      { numRuns: quickOrAll(100, 300) },
    );
  });

  test('never causes an internal error', async () => {
    expect((await server()).output.stderr).toBe('');
  });
});

const isRanged = ({ minimum, maximum }: Schema): boolean =>
  minimum !== undefined && maximum !== undefined && Math.abs(maximum) < Number.MAX_SAFE_INTEGER;

const isRead = (name: string): boolean => readTools.some((tool) => tool.name === name);

async function samplesOf(): Promise<Record<string, Row>> {
  const at = await address();
  const all = readTools.map(async (tool) => [tool.name, await sampleFor(tool, at)]);
  return Object.fromEntries(await Promise.all(all));
}

function expectWords({ text, isError }: { text: string; isError: boolean }): void {
  expect(text.length).toBeGreaterThan(5);
  expect(text).not.toMatch(/went wrong inside|\[object |undefined|\n\s+at /);
  if (isError) expect(text.length).toBeLessThan(1_500);
}
