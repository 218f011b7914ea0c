import type { InputRequiredResult } from '@modelcontextprotocol/server';

/** Ends a call that must ask a person first; the host brings it back with the answer. */
export class ElicitationRequired extends Error {
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super('a person is asked');
    this.result = result;
  }
}
