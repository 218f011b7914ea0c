import { setFlagsFromString } from 'node:v8';

/**
 * Turns off Maglev, one of V8's compilers. On Node 24 it keeps 30 MB, and calls are not faster with it. Older versions
 * need no flag, and later ones may not know it. Only for processes of our own, not for programs that embed the server.
 */
export function saveCompilerMemory(): void {
  if (process.versions.node.startsWith('24.')) setFlagsFromString('--no-maglev');
}
