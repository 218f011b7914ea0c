import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { InvalidValue } from '../setting-values.ts';
import type { Grant } from '../tenant/grants.ts';
import { nearestOf } from '../text/nearest.ts';
import { withoutSecrets } from '../text/secrets.ts';
import type { AnyTool, Toolset } from '../tool-kit/define-tool.ts';
import { fieldOf } from '../values.ts';
import { type Listing, listings } from './listing.ts';

/** The tools that are listed where they are granted: those of the toolsets, and single ones; none after a hyphen. */
export interface ToolSelection {
  toolsets: ReadonlySet<Toolset>;
  tools: ReadonlySet<string>;
}

/** Whether names only say, by a hyphen before each, which tools to leave out. */
export const onlyExcludes = (names: ReadonlySet<string>): boolean =>
  names.size > 0 && [...names].every((name) => name.startsWith('-'));

/** Whether a tool is one of these names, or not one of those that they leave out. */
const isAmong = (names: ReadonlySet<string>, name: string): boolean =>
  (names.has(name) || onlyExcludes(names)) && !names.has(`-${name}`);

export interface SurfaceEntry extends Listing {
  /** Set by its first call. */
  tool?: Promise<AnyTool>;
}

/** The tools for one caller, in fixed order. */
export interface Surface {
  list: readonly ListedTool[];
  /** The same, with the tools that views call and models do not, for hosts that show views. */
  listWithViews: readonly ListedTool[];
  byName: ReadonlyMap<string, SurfaceEntry>;
}

/** The first call loads all tools. */
export async function loadTool(name: string): Promise<AnyTool> {
  const { catalog } = await import('../../tools/catalog.ts');
  const tool = catalog.find((one) => one.name === name);
  if (!tool) throw new Error(`listed, but not in the catalogue: ${name}`);
  return tool;
}

/** What a caller may use: nothing is served that none of the tools serves. */
export interface Access {
  grants: ReadonlySet<Grant>;
  surface: Surface;
}

/** What a server says of itself, and lists. It is known before the tenant is opened. */
export interface ServerDescription extends Access {
  /** The tenant is the embedded one, whose records are invented. */
  isMadeUp?: boolean;
}

/** Whether only views call a tool. It is there with the tools that have the view. */
export const isForView = ({ _meta }: ListedTool): boolean =>
  fieldOf(_meta?.ui, 'visibility') !== undefined;

const forModels = listings.filter(({ definition }) => !isForView(definition));

/** In catalog order. @param only the tools that the caller may use; default all */
export function createSurface(
  grants: ReadonlySet<Grant>,
  { toolsets, tools }: ToolSelection,
  only?: ReadonlySet<string>,
): Surface {
  const shown = forModels.filter(
    ({ toolset, needs, definition }) =>
      (toolsets.has(toolset) || tools.has(definition.name)) &&
      !tools.has(`-${definition.name}`) &&
      needs.every((grant) => grants.has(grant)) &&
      (only === undefined || isAmong(only, definition.name)),
  );
  const views = new Set(shown.map(({ view }) => view));
  const forViews = listings.filter((one) => isForView(one.definition) && views.has(one.view));
  const all = [...shown, ...forViews];
  return {
    list: shown.map(({ definition }) => definition),
    listWithViews: all.map(({ definition }) => definition),
    byName: new Map(all.map((entry) => [entry.definition.name, entry])),
  };
}

const toolNames = forModels.map(({ definition }) => definition.name);

/** With or without a hyphen before each. @throws InvalidValue that names the nearest tool for each unknown name */
export function parseToolNames(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.filter((name) => !toolNames.includes(name.replace(/^-/, '')));
  if (unknown.length === 0) return new Set(names);
  const nearest = [
    ...new Set(unknown.map((name) => nearestOf(name.toLowerCase(), toolNames))),
  ].join(', ');
  throw new InvalidValue(`unknown: ${unknown.join(', ')}. Nearest: ${nearest}`);
}

export const toolsIn = (toolset: Toolset): string[] =>
  forModels.filter((one) => one.toolset === toolset).map(({ definition }) => definition.name);

/** Characters of an address that are sent back: of a long one, many texts could be tried for what is taken out. */
const maxUri = 300;

/** A request for an unknown tool, prompt or resource; code, message and data are sent to the host, without a key. */
export class InvalidParams extends Error {
  /** JSON-RPC error code. */
  readonly code = -32602;
  readonly data: { readonly uri: string } | undefined;

  constructor(message: string, data?: { uri: string }) {
    super(withoutSecrets(message));
    this.data = data && { uri: withoutSecrets(data.uri.slice(0, maxUri)) };
  }
}
