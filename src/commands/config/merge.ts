import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../values.ts';
import { type Entry, placeholders, variables } from './launch.ts';

/** The new content of a file, and the entry in it. */
export interface EditResult {
  text: string;
  entry: Entry;
}

/** The file cannot be edited safely: nothing was written. */
export class NotEdited extends Error {}

const cannotEdit = 'is written in a way that this command cannot edit safely';

/** Parses edited text; a failure means that the edit was wrong, not the file. */
export function unsafe<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new NotEdited(cannotEdit);
  }
}

/** Keys that say how to reach the server; all others belong to the user. */
const transport = ['type', 'command', 'args', 'env', 'env_vars', 'url', 'httpUrl', 'serverUrl'];

/**
 * Merges the new entry into an existing one. Values that the user changed are kept: unknown keys, further
 * variables, and a key or address in place of a placeholder.
 */
export function merge(existing: unknown, launch: Entry): Entry {
  if (!isObject(existing)) return launch;
  const own = Object.entries(existing).filter(([name]) => !transport.includes(name));
  const merged: Entry = { ...Object.fromEntries(own), ...launch };
  if (launch.command === undefined) return merged;
  const isSandbox = listOf(launch.args).includes('--sandbox');
  const before = isObject(existing.env) ? existing.env : {};
  const env = mergeVariables(isSandbox ? withoutTenant(before) : before, launch);
  if (Object.keys(env).length > 0) merged.env = env;
  const keyIsThere = env[variables.key] !== undefined || env[variables.keyFile] !== undefined;
  const passedOn = new Set([...listOf(existing.env_vars), ...listOf(launch.env_vars)]);
  if (keyIsThere || isSandbox) passedOn.delete(variables.key);
  if (passedOn.size > 0) merged.env_vars = [...passedOn];
  else delete merged.env_vars;
  return merged;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The embedded tenant needs neither address nor key, so none stays in the file. */
function withoutTenant({
  [variables.baseUrl]: _address,
  [variables.key]: _key,
  [variables.keyFile]: _file,
  ...rest
}: Entry): Entry {
  return rest;
}

function mergeVariables(existing: Entry, launch: Entry): Entry {
  const ours = isObject(launch.env) ? launch.env : {};
  const env = { ...existing, ...ours };
  for (const [name, value] of Object.entries(ours)) {
    const theirs = existing[name];
    if (theirs !== undefined && isOpen(value) && !isOpen(theirs)) env[name] = theirs;
  }
  // Only one source of the key: the one requested now, or the one that the user filled in.
  if (ours[variables.keyFile] !== undefined) delete env[variables.key];
  else if (existing[variables.keyFile] !== undefined) delete env[variables.key];
  return env;
}

/** Whether a value is a placeholder or a reference that the host resolves. */
const isOpen = (value: unknown): boolean =>
  typeof value === 'string' &&
  (value === placeholders.key || value === placeholders.baseUrl || /^\$/.test(value));

/**
 * Verifies that an edit changed the entry and nothing else, by parsing both versions.
 * @throws NotEdited
 */
export function checkEdit(
  before: Entry,
  after: Entry,
  path: readonly [root: string, name: string],
  entry: Entry,
): void {
  const [root, name] = path;
  const servers = after[root];
  const done = isObject(servers) && isDeepStrictEqual(servers[name], entry);
  const rest = { ...withoutEntry(after, path), ...firstInputs(before, after) };
  if (!done || !isDeepStrictEqual({ inputs: undefined, ...withoutEntry(before, path) }, rest)) {
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
