export interface PageQuery extends Search {
  size: number;
  /** 0-based offset of the first record. */
  from?: number | undefined;
}

/** A request for one page, as it is sent. */
export interface PageRequest extends Search {
  /** Absent if the service refuses the parameter. */
  size?: number | undefined;
  /** Value of the offset parameter; not sent if it is 0. */
  from?: number | undefined;
  /** The request tests whether the service accepts this size: a 500 is neither retried nor counted as an outage. */
  probesSize?: boolean;
  /** Maximum number of attempts. Default: 3. */
  attempts?: number;
}

/** A search of a route: the parameters that are the same for all its pages. */
export interface Search {
  query?: string | undefined;
  /** `key:v1|v2,key2:v` (comma is and, pipe is or). */
  filters?: string | undefined;
  /** `-field,+field`. */
  sort?: string | undefined;
  includeBundles?: boolean | undefined;
  includeEmpty?: boolean | undefined;
}

export interface Page<R> {
  records: R[];
  /** Number of all matches, if the service counts them. */
  total?: number;
  /** There may be more matches: `total` is a limit of the service's count, or the service calls its answer partial. */
  countIsLimit?: boolean;
  /** The service refuses the size parameter, and decides how many records a page has. */
  withoutSize?: boolean;
  /** Time of the response by the service's clock, in milliseconds since the epoch. */
  answeredAt?: number;
}
