// One clock for all processes of a simulation: real time, moved forward while nothing happens.
import { setTimeout } from 'node:timers/promises';
import { exchange } from './processes.mjs';

/** The service is idle when it was not asked for so long, in real milliseconds. */
export const idleMs = 150;

/** The time of all processes. While nothing happens it is moved to what happens next. */
export class CommonClock {
  fastMs = 0;
  /** The processes that are told, which `moved-clock.mjs` is loaded into. */
  processes;
  #waiting = [];
  #busy = 0;

  constructor(processes) {
    this.processes = new Set(processes);
  }

  now = () => Date.now() + this.fastMs;

  /** For a task: waits until a time. */
  at(time) {
    this.#busy -= 1;
    return new Promise((resolve) => {
      this.#waiting.push({ time, resolve });
      this.#waiting.sort((a, b) => a.time - b.time);
    });
  }

  async moveTo(time) {
    this.fastMs += Math.max(0, time - this.now());
    await Promise.all([...this.processes].map((it) => exchange(it, { fastMs: this.fastMs })));
  }

  /** Runs tasks until all have ended. `beforeMove` is called with each time before it comes. @returns their results */
  async run(tasks, service, beforeMove) {
    this.#busy = tasks.length;
    let isFailed = false;
    const running = tasks.map((task) =>
      task()
        .catch((error) => {
          isFailed = true;
          throw error;
        })
        .finally(() => {
          this.#busy -= 1;
        }),
    );
    const results = Promise.all(running);
    results.catch(() => {}); // Reported below.
    while (!isFailed && (this.#busy > 0 || this.#waiting.length > 0)) {
      const [next] = this.#waiting;
      if (this.#busy === 0 && service.idleMs > idleMs) {
        await beforeMove(next.time);
        await this.moveTo(next.time);
      }
      await beforeMove(this.now());
      if (next && next.time <= this.now()) {
        this.#busy += 1;
        this.#waiting.shift();
        next.resolve();
      }
      await setTimeout(next?.time <= this.now() ? 0 : 5);
    }
    return results;
  }
}
