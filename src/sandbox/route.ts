import type { Context } from './context.ts';
import type { Json } from './json.ts';
import type { Permission } from './keys.ts';

/** The input of a route: the query, the variable part of the path, and the parsed body. */
export interface Request {
  query: URLSearchParams;
  key: string;
  body: Json | undefined;
}

export interface Reply {
  status: number;
  /** JSON text. */
  body: string;
}

export interface Route {
  permission: Permission;
  answer(context: Context, request: Request): Reply;
}
