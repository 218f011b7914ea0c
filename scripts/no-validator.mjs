// Replaces the SDK's JSON Schema validator, which is never used: all schemas of this server are zod schemas, and
// the validator's library would add 170 kB to every start.
export { default as process } from 'node:process';

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('schemas are checked with zod');
  }
}
