/** A request to the test service. */
export interface Request {
  method: string;
  /** Below `/public-api`, without a slash at the end. */
  path: string;
  rawPath: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

/** Its answer: status and body. */
export interface Reply {
  status: number;
  body: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Sent instead of the body. */
  text?: string;
}

/** Changes a reply of the documented service on its way to the server. */
export type Rewrite = (reply: Reply, request: Request) => Reply;
