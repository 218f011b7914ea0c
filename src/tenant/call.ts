import type { CallContext } from '../service/call.ts';

export interface ToolCall extends CallContext {
  client: string;
  caller?: string | undefined;
}
