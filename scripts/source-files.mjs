import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The source files of src and tools, relative to the root of the project. */
export const sourceFiles = (root) =>
  ['src', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, name).split(sep).join('/'))
      .filter((name) => /\.[cm]?[jt]sx?$/.test(name)),
  );
