import { setFlagsFromString } from 'node:v8';

/**
 * On Node 24, V8's compiler Maglev frees its memory on other threads, where the allocator keeps about 30 MB. A server of
 * many callers is as fast without Maglev, because its functions soon reach the next compiler. A server of one person is
 * slower without it, so there Maglev only frees its memory on the main thread.
 */
const flags = { many: '--no-maglev', one: '--no-maglev-destroy-on-background' };

/** For processes of our own, not for programs that embed the server. Other versions of Node need or know no flag. */
export function saveCompilerMemory(callers: keyof typeof flags): void {
  if (process.versions.node.startsWith('24.')) setFlagsFromString(flags[callers]);
}
