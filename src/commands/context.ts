import type { Writable } from 'node:stream';

/** What a command is given of its process. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  /** The user's home folder. */
  home: string;
  /** Path of this program. */
  script: string;
  stdout: Writable;
  stderr: Writable;
}
