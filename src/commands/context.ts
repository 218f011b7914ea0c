import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** What a command is given of its process. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  home: string;
  /** Path of this program. */
  script: string;
  /** Opened by the first call. */
  stdin(): Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
  signals: EventEmitter;
}
