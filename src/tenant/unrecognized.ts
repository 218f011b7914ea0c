import { findUnrecognized } from '../service/records/recognition.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import { join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';

/** A sentence for everything that none of the records says in a field that this server knows. */
export const describeUnrecognized = (
  resource: Resource,
  records: readonly ApiRecord[],
): Wording[] =>
  findUnrecognized(resource, records).map(
    ({ kind, what, unknownFields }) =>
      wording`The service's records look different from what this server knows: no ${trusted(kind.replaceAll('_', ' '))} has a ${trusted(what)} in a known field, so figures that need it are missing or 0. Unknown fields: ${join(
        unknownFields.map((field) => quote(field, 60)),
        ', ',
      )}.`,
  );
