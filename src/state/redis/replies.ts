/** The entries of a reply of Redis that must be a list. @throws TypeError for any other reply */
export function listReply(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError('Redis gave no list where one was expected');
}
