import { execFileSync } from 'node:child_process';
import { closing, newFolder } from './shared.ts';

/** A file system so small that it is soon full. */
export function smallDisk(): string {
  const folder = newFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'none', folder], { stdio: 'ignore' });
  closing({ close: async () => execFileSync('umount', ['-l', folder]) });
  return folder;
}

/** Whether this process may mount one. */
export function canMount(): boolean {
  try {
    const folder = newFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  }
}
