// In the place of the SDK's own: JSON Schema is never checked here, because every schema of ours is zod's,
// and the library that would do it is a sixth of a megabyte that every start would wait for.
export { default as process } from 'node:process';

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('schemas are checked with zod');
  }
}
