import type { HttpOptions } from '../../src/hosts/http.ts';

/** Options of an HTTP host without authentication that serves `/mcp` alone. */
export const httpOptions = (more: Partial<HttpOptions> = {}): HttpOptions => ({
  host: '127.0.0.1',
  port: 0,
  allowedHosts: [],
  localOnly: false,
  fastPath: true,
  preview: false,
  webhooks: () => false,
  onError: () => {},
  health: async () => ({ kind: 'local', ok: true }),
  queue: undefined,
  observer: {
    onHttpRequest: (_request, _response, handle) => handle(),
    render: async () => ({ contentType: 'text/plain', body: '' }),
  },
  mayReadMetrics: () => false,
  ...more,
});
