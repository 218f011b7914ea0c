// The tool of the minimal proxy: requests the service and passes its text on.
let pool;

/** Loads undici with the first call only, so that the start stays fast. */
async function open() {
  const { Pool } = await import('undici');
  return new Pool(new URL(process.env.CPQ_BASE_URL).origin, { connections: 32 });
}

async function forward(size) {
  pool ??= open();
  const { body } = await (await pool).request({
    method: 'GET',
    path: `/public-api/opportunity?size=${size}`,
    headers: { 'api-key': process.env.CPQ_API_KEY, accept: 'application/json' },
  });
  return body.text();
}

const tool = {
  name: 'cpq_list_opportunities',
  description: 'Lists opportunities.',
  inputSchema: { type: 'object', properties: { size: { type: 'integer' } } },
};

/** The result of one request, with the necessary checks only. */
export async function resultOf({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'minimal-proxy', version: '1' },
      };
    case 'tools/list':
      return { tools: [tool] };
    case 'tools/call':
      return { content: [{ type: 'text', text: await forward(params.arguments.size) }] };
    default:
      return {};
  }
}
