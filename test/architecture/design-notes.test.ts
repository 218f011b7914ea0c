import { createRequire } from 'node:module';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import * as z from 'zod';

/** The reasons under "Design notes" of the README, of the versions that are installed here. */

test('the first line of the SDK does not speak revision 2026-07-28', () => {
  expect(SUPPORTED_PROTOCOL_VERSIONS).toContain('2025-11-25');
  expect(SUPPORTED_PROTOCOL_VERSIONS).not.toContain('2026-07-28');
});

test('zod-to-json-schema makes a schema without any property of an object of zod 4', () => {
  // The first line of the SDK brings it.
  const requireOfSdk = createRequire(import.meta.resolve('@modelcontextprotocol/sdk/types.js'));
  const { zodToJsonSchema } = requireOfSdk('zod-to-json-schema');
  const object = z.object({ name: z.string() });
  expect(zodToJsonSchema(object)).not.toHaveProperty('properties');
  expect(z.toJSONSchema(object)).toHaveProperty('properties.name');
});
