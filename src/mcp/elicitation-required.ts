import type { InputRequiredResult } from '@modelcontextprotocol/server';

/** Ends a call so that the host asks the person and repeats the call with the answer. */
export class ElicitationRequired extends Error {
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super('a person is asked');
    this.result = result;
  }
}
