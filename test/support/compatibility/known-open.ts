/**
 * Services of which hardly a question is answered, for the reasons in docs/compatibility.md ("Limits"): every call fails, and
 * says why. There may be five.
 */
export const blackouts: ReadonlySet<string> = new Set([
  'a list in a list',
  'results by id',
  'a redirect to another host',
  'one record a line',
  'cut by a proxy',
]);
