// The cluster of the suite, and how to request changes of it: see ../README.md.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from './support.js';

export const nodes = (process.env.REDIS_CLUSTER ?? '').split(',').filter(Boolean).map((address) => {
  const [host, port] = address.split(':');
  return { host, port: Number(port) };
});

/** Returns a function that sends requests to the control port in this variable, and returns the rest of the answer. */
export const controlAt = (variable) => async (...words) => {
  const socket = connect(Number(process.env[variable]), '127.0.0.1');
  socket.end(`${words.join(' ')}\n`);
  const [, verdict, rest] = /^(\w*) ?(.*)\n?$/.exec(await text(socket));
  if (verdict !== 'ok') throw new Error(`${verdict} ${rest}`);
  return rest;
};

export const control = controlAt('REDIS_CLUSTER_CONTROL');

/**
 * Increments counters, several at a time, until stop(). `counts` has what the servers acknowledged. Errors that
 * `isAllowed` accepts as part of a failure are counted in `refused`; others fail the test.
 */
export class Load {
  constructor(increment, { isAllowed = () => false, tasks = 4, keys = 60 } = {}) {
    this.keys = Array.from({ length: keys }, (_, number) => `load:${number}`);
    this.counts = Object.fromEntries(this.keys.map((key) => [key, 0]));
    this.refused = 0;
    this.running = true;
    this.tasks = Array.from({ length: tasks }, (_, task) => this.#run(increment, isAllowed, task));
    this.end = Promise.all(this.tasks);
    this.end.catch((error) => { this.trouble = error; });
  }

  async #run(increment, isAllowed, task) {
    for (let step = task; this.running; step += 1) {
      const key = this.keys[(step * 7 + task) % this.keys.length];
      try {
        await increment(key);
        this.counts[key] += 1;
      } catch (error) {
        if (!isAllowed(error)) throw error;
        this.refused += 1;
      }
    }
  }

  /** Waits until every key has been incremented several more times. */
  async goesOn(limitMs = 30_000) {
    const before = { ...this.counts };
    await eventually(() => {
      if (this.trouble) return true;
      return this.keys.every((key) => this.counts[key] > before[key] + 2);
    }, limitMs);
    if (this.trouble) throw this.trouble;
  }

  async stop() {
    this.running = false;
    await this.end;
  }
}
