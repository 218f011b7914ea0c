// Child processes of the benchmark: started with a bare environment, never left running.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const running = new Set();

/** What a process needs of ours to run at all. NODE_EXTRA_CA_CERTS alone costs a start 70 ms on Node 20. */
const inheritedEnv = ['PATH', 'HOME', 'SYSTEMROOT', 'TEMP', 'TMPDIR'];

export function startProcess(argv, env = {}) {
  const kept = inheritedEnv.flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  );
  const child = spawn(process.execPath, argv, {
    env: { ...Object.fromEntries(kept), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {}); // It may have ended before it read all.
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Closes its stdin, then tells it to end, then makes it. */
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

// However the benchmark ends, nothing of it stays.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** Waits for a line on stdout that matches. */
export function waitForOutput(child, pattern, patienceMs = 30_000) {
  return new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => reject(new Error(`never said ${pattern}: ${said}`)), patienceMs);
    const read = (bytes) => {
      said += bytes;
      const found = pattern.exec(said);
      if (!found) return;
      clearTimeout(late);
      child.stdout.off('data', read);
      resolve(found);
    };
    child.stdout.on('data', read);
    child.once('close', () => reject(new Error(`ended without saying ${pattern}: ${said}`)));
  });
}

/** Megabytes of memory that are really held, as the system counts them. */
export function residentMegabytes({ pid }) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** Processor time so far in milliseconds, of all its threads; NaN where the system does not say. */
export function processorMs({ pid }) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const times = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'));
    return times.reduce((sum, line) => sum + Number(line.split(' ')[0]), 0) / 1e6;
  } catch {
    return Number.NaN;
  }
}
