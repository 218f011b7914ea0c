/** A setting of an earlier version, and what to do instead. It is still accepted, and has no effect. */
interface RetiredSetting {
  env: string;
  flag: string;
  remedy: string;
}

export const retiredSettings: readonly RetiredSetting[] = [
  {
    env: 'CPQ_CALLS_IN_ALL',
    flag: 'calls-in-all',
    remedy: 'remove it; 128 calls run at once, and CPQ_CALLS_AT_ONCE limits each caller',
  },
  {
    env: 'CPQ_STREAMS_AT_ONCE',
    flag: 'streams-at-once',
    remedy: 'remove it; a caller may have 32 open streams',
  },
  {
    env: 'CPQ_OAUTH_JWKS_URL',
    flag: 'oauth-jwks-url',
    remedy: "remove it; the issuer's metadata names its keys",
  },
  {
    env: 'CPQ_TRACING',
    flag: 'tracing',
    remedy: 'remove it; the trace context of a caller is always passed on, and logged',
  },
];
