/** The client of commands that ask this server themselves. */
export { Client, InMemoryTransport } from '@modelcontextprotocol/client';
