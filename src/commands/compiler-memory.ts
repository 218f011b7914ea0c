import { setFlagsFromString } from 'node:v8';

/**
 * What V8's compiler Maglev uses is freed on other threads, where the allocator keeps it: about 30 MB on Node 24. A server
 * of many callers is as fast without Maglev, because its functions soon reach the next compiler; that of one person is
 * not, so only the place where memory is freed is changed there.
 */
const flags = { many: '--no-maglev', one: '--no-maglev-destroy-on-background' };

/** For processes of our own, not for programs that embed the server. Other versions of Node need or know no flag. */
export function saveCompilerMemory(callers: keyof typeof flags): void {
  if (process.versions.node.startsWith('24.')) setFlagsFromString(flags[callers]);
}
