// Child processes of the benchmark: started with a minimal environment, never left running.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const running = new Set();

/** The variables a process needs to run at all. NODE_EXTRA_CA_CERTS alone adds 70 ms to a start on Node 20. */
const inheritedEnv = ['PATH', 'HOME', 'SYSTEMROOT', 'TEMP', 'TMPDIR'];

/** With `ipc`, the process can exchange messages with this one. */
export function startProcess(argv, env = {}, { ipc = false } = {}) {
  const kept = inheritedEnv.flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  );
  const child = spawn(process.execPath, argv, {
    env: { ...Object.fromEntries(kept), ...env },
    stdio: ['pipe', 'pipe', 'inherit', ...(ipc ? ['ipc'] : [])],
  });
  child.stdin.on('error', () => {}); // It may have ended before it read everything.
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Closes its stdin, then sends SIGTERM, then SIGKILL. */
export async function stopProcess(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.end();
  const ask = setTimeout(() => child.kill('SIGTERM'), 150);
  const insist = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await ended;
  clearTimeout(ask);
  clearTimeout(insist);
}

export const stopAll = () => Promise.all([...running].map(stopProcess));

// No child process outlives the benchmark, however it ends.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** Waits for a line on stdout that matches. */
export function waitForOutput(child, pattern, timeoutMs = 30_000) {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`no ${pattern} in: ${output}`)), timeoutMs);
    const read = (bytes) => {
      output += bytes;
      const found = pattern.exec(output);
      if (!found) return;
      clearTimeout(timer);
      child.stdout.off('data', read);
      resolve(found);
    };
    child.stdout.on('data', read);
    child.once('close', () => reject(new Error(`ended without ${pattern} in: ${output}`)));
  });
}

/** Resident memory in megabytes, as the system counts it: now, or the most so far. */
const memoryOf = (field) => {
  const pattern = new RegExp(`${field}:\\s+(\\d+) kB`);
  return ({ pid }) => Number(pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
};
export const residentMegabytes = memoryOf('VmRSS');
export const maxResidentMegabytes = memoryOf('VmHWM');

/** Open files of a process, and how many of them are sockets. */
export function openFiles({ pid }) {
  const targets = readdirSync(`/proc/${pid}/fd`).map((file) => linkTarget(pid, file));
  return {
    files: targets.length,
    sockets: targets.filter((target) => target.startsWith('socket:')).length,
  };
}

function linkTarget(pid, file) {
  try {
    return readlinkSync(`/proc/${pid}/fd/${file}`);
  } catch {
    return ''; // It was closed in between.
  }
}

/** Sends a message to a process that was started with `ipc`, and waits for its answer. */
export async function exchange(child, message = {}) {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = await answered;
  return answer;
}

/** Processor time of all threads so far, in milliseconds; NaN where the system does not report it. */
export function processorMs({ pid }) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'));
    return times.reduce((sum, line) => sum + Number(line.split(' ')[0]), 0) / 1e6;
  } catch {
    return Number.NaN;
  }
}
