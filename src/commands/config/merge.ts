import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../values.ts';
import { type Entry, variables } from './launch.ts';

/** The new content of a file, and the entry in it. */
export interface EditResult {
  text: string;
  entry: Entry;
}

/** How to write an entry in one format of files: alone, or into a file. */
export interface FileFormat {
  print(root: string, name: string, entry: Entry, inputs: readonly Entry[]): string;
  /**
   * Absent where the host has a command that adds an entry.
   * @throws NotEdited
   */
  edit?(
    before: string,
    root: string,
    name: string,
    entry: Entry,
    inputs: readonly Entry[],
  ): EditResult;
}

/** The file cannot be edited safely: nothing was written. */
export class NotEdited extends Error {}

const cannotEdit = 'is written in a way that this command cannot edit safely';

/** Keys of all hosts that say how to reach the server; all others belong to the user. */
const transport = [
  ...['type', 'command', 'cmd', 'args', 'env', 'environment', 'envs', 'env_vars', 'env_keys'],
  ...['url', 'httpUrl', 'serverUrl', 'uri', 'headers', 'http_headers'],
  ...['bearer_token_env_var', 'env_http_headers'],
];

/**
 * Merges the new entry into an existing one. Values that the user changed are kept: unknown keys, further
 * variables and headers, and a secret or address in place of a placeholder.
 */
export function merge(existing: unknown, launch: Entry): Entry {
  if (!isObject(existing)) return launch;
  const own = Object.fromEntries(
    Object.entries(existing).filter(([name]) => !transport.includes(name)),
  );
  const merged: Entry = { ...own, ...launch, ...own };
  const starts = launch.command !== undefined || launch.cmd !== undefined;
  return starts ? mergeLaunch(existing, launch, merged) : mergeHeaders(existing, launch, merged);
}

function mergeLaunch(existing: Entry, launch: Entry, merged: Entry): Entry {
  const isSandbox = [launch.command, launch.args].some((words) =>
    listOf(words).includes('--sandbox'),
  );
  const envField = fieldIn(['env', 'environment', 'envs'], existing, launch);
  const passedField = fieldIn(['env_vars', 'env_keys'], existing, launch);
  const ours = objectOf(launch[envField]);
  const env = mergeVariables(withoutUnused(objectOf(existing[envField]), ours, isSandbox), ours);
  const keyIsThere = env[variables.key] !== undefined || env[variables.keyFile] !== undefined;
  const passedOn = new Set([...listOf(existing[passedField]), ...listOf(launch[passedField])]);
  if (keyIsThere || isSandbox) passedOn.delete(variables.key);
  return {
    ...without(merged, [envField, passedField]),
    ...(Object.keys(env).length > 0 && { [envField]: env }),
    ...(passedOn.size > 0 && { [passedField]: [...passedOn] }),
  };
}

/** The field that one of the entries has. */
const fieldIn = (names: readonly [string, ...string[]], ...entries: readonly Entry[]): string =>
  names.find((name) => entries.some((entry) => entry[name] !== undefined)) ?? names[0];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const objectOf = (value: unknown): Entry => (isObject(value) ? value : {});

const without = (entry: Entry, names: readonly string[]): Entry =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)));

/** No secret stays in the file that the new entry does not use. */
function withoutUnused(existing: Entry, ours: Entry, isSandbox: boolean): Entry {
  const { baseUrl, key, keyFile, login } = variables;
  const connects = ours[login] !== undefined;
  return without(existing, [
    ...(isSandbox || connects ? [baseUrl, key, keyFile] : []),
    ...(connects ? [] : [login]),
  ]);
}

function mergeVariables(existing: Entry, ours: Entry): Entry {
  const env = { ...existing, ...ours, ...keptSecrets(existing, ours) };
  // Only one source of the key: the one requested now, or the one that the user filled in.
  if (ours[variables.keyFile] !== undefined) delete env[variables.key];
  else if (existing[variables.keyFile] !== undefined) delete env[variables.key];
  return env;
}

/** The user's values in place of our placeholders. */
const keptSecrets = (existing: Entry, ours: Entry): Entry =>
  Object.fromEntries(
    Object.entries(existing).filter(([name, value]) => isOpen(ours[name]) && !isOpen(value)),
  );

/** Headers that authenticate; compared in lower case. */
const loginHeaders = ['authorization', 'api-key'];

function mergeHeaders(existing: Entry, launch: Entry, merged: Entry): Entry {
  const fields = ['headers', 'http_headers'].map((field) => {
    const [theirs, ours] = [objectOf(existing[field]), objectOf(launch[field])];
    const logins = Object.keys(theirs).filter((name) => loginHeaders.includes(name.toLowerCase()));
    return [field, { ...without(theirs, logins), ...ours, ...keptSecrets(theirs, ours) }] as const;
  });
  const filled = fields.filter(([, headers]) => Object.keys(headers).length > 0);
  return { ...merged, ...Object.fromEntries(filled) };
}

/** Whether a value is a placeholder or a reference that the host resolves. */
const isOpen = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:Bearer )?(?:YOUR_|\$|\{env:)|YOUR-TENANT$/.test(value);

/**
 * Verifies that an edit changed the entry and nothing else.
 * @param parseEdited parses the edited text; a failure means that the edit was wrong, not the file
 * @throws NotEdited
 */
export function checkEdit(
  before: Entry,
  parseEdited: () => Entry,
  path: readonly [root: string, name: string],
  entry: Entry,
): void {
  const [root, name] = path;
  const after = parsed(parseEdited);
  const servers = after[root];
  const done = isObject(servers) && isDeepStrictEqual(servers[name], entry);
  const rest = { ...withoutEntry(after, path), ...firstInputs(before, after) };
  if (!done || !isDeepStrictEqual({ inputs: undefined, ...withoutEntry(before, path) }, rest)) {
    throw new NotEdited(cannotEdit);
  }
}

function parsed(parse: () => Entry): Entry {
  try {
    return parse();
  } catch {
    throw new NotEdited(cannotEdit);
  }
}

/** Inputs may be appended to existing ones. */
function firstInputs(before: Entry, after: Entry): Entry {
  const existed = Array.isArray(before.inputs) ? before.inputs.length : undefined;
  if (!Array.isArray(after.inputs)) return { inputs: after.inputs };
  return { inputs: existed === undefined ? undefined : after.inputs.slice(0, existed) };
}

/** The document without the entry; an otherwise empty group counts as absent. */
function withoutEntry(document: Entry, [root, name]: readonly [string, string]): Entry {
  const { [root]: servers, ...rest } = document;
  if (!isObject(servers)) return rest;
  const { [name]: _, ...others } = servers;
  return Object.keys(others).length === 0 ? rest : { ...rest, [root]: others };
}
