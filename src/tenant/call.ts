import type { CallContext } from '../service/call.ts';

export interface ToolCall extends CallContext {
  /** Name and version that the host reports. */
  client: string;
  /** The authenticated caller, if callers are authenticated. */
  caller?: string | undefined;
}
