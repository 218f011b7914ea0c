import { homedir } from 'node:os';
import { join } from 'node:path';

/** The platform's folder for a user's application state. */
export function defaultStateFolder(environment: Record<string, string | undefined>): string {
  if (process.platform === 'win32') {
    return join(environment.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'cpq-mcp');
  }
  const home = environment.HOME ?? homedir();
  if (process.platform === 'darwin') {
    return join(home, 'Library', 'Application Support', 'cpq-mcp');
  }
  return join(environment.XDG_STATE_HOME || join(home, '.local', 'state'), 'cpq-mcp');
}
