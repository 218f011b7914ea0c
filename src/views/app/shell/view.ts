/** What a component of a view gets. */
import type { Arguments, Bridge } from './bridge.ts';

export type Host = Bridge;

export interface ViewProps<Data> {
  data: Data;
  /** The arguments of the tool call. */
  args: Arguments;
  host: Host;
  /** Calls the view's own tool again and shows the answer. */
  reload(args?: Arguments): Promise<void>;
}
