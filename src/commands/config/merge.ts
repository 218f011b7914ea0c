import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../api/envelope.ts';
import { type Entry, placeholders, variables } from './launch.ts';

/** A file as it is to be, and the entry that is in it then. */
export interface EditResult {
  text: string;
  entry: Entry;
}

/** The file cannot be edited safely: nothing was written. */
export class NotEdited extends Error {}

const cannotEdit = 'is written in a way that this command cannot edit safely';

/** Reading what was written: if that fails the mistake is the edit's, not the file's. */
export function unsafe<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new NotEdited(cannotEdit);
  }
}

/** What says how a server is reached; all else in an entry is the person's own. */
const transport = ['type', 'command', 'args', 'env', 'env_vars', 'url', 'httpUrl', 'serverUrl'];

/**
 * The entry as it should be, with what a person added to it: unknown keys, further variables, and a key
 * or an address that took the place of ours.
 */
export function merge(existing: unknown, launch: Entry): Entry {
  if (!isObject(existing)) return launch;
  const own = Object.entries(existing).filter(([name]) => !transport.includes(name));
  const merged: Entry = { ...Object.fromEntries(own), ...launch };
  if (launch.command === undefined) return merged;
  const env = mergeVariables(isObject(existing.env) ? existing.env : {}, launch);
  if (Object.keys(env).length > 0) merged.env = env;
  const keyIsThere = env[variables.key] !== undefined || env[variables.keyFile] !== undefined;
  const passedOn = new Set([...listOf(existing.env_vars), ...listOf(launch.env_vars)]);
  if (keyIsThere) passedOn.delete(variables.key);
  if (passedOn.size > 0) merged.env_vars = [...passedOn];
  else delete merged.env_vars;
  return merged;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function mergeVariables(existing: Entry, launch: Entry): Entry {
  const ours = isObject(launch.env) ? launch.env : {};
  const env = { ...existing, ...ours };
  for (const [name, value] of Object.entries(ours)) {
    const theirs = existing[name];
    if (theirs !== undefined && isOpen(value) && !isOpen(theirs)) env[name] = theirs;
  }
  // One place for the key: the one asked for now, or the one that a person filled in.
  if (ours[variables.keyFile] !== undefined) delete env[variables.key];
  else if (existing[variables.keyFile] !== undefined) delete env[variables.key];
  return env;
}

/** Left for a person, or their host, to fill in. */
const isOpen = (value: unknown): boolean =>
  typeof value === 'string' &&
  (value === placeholders.key || value === placeholders.baseUrl || /^\$/.test(value));

/**
 * Makes sure that an edit did what it was to do, and nothing else, by reading both versions whole.
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

/** Questions may be added behind those that were there. */
function firstInputs(before: Entry, after: Entry): Entry {
  const existed = Array.isArray(before.inputs) ? before.inputs.length : undefined;
  if (!Array.isArray(after.inputs)) return { inputs: after.inputs };
  return { inputs: existed === undefined ? undefined : after.inputs.slice(0, existed) };
}

/** All but the entry; a group that holds nothing else counts as absent. */
function withoutEntry(document: Entry, [root, name]: readonly [string, string]): Entry {
  const { [root]: servers, ...rest } = document;
  if (!isObject(servers)) return rest;
  const { [name]: _, ...others } = servers;
  return Object.keys(others).length === 0 ? rest : { ...rest, [root]: others };
}
