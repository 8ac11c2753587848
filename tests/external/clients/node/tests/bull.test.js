// Bull 4, the older queue: its jobs, waits, retries, priorities, repeats and events.
import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import Bull from 'bull';
import { Redis } from 'ioredis';
import { eventually, host, port, test } from '../support.js';

const admin = new Redis({ host, port });
after(() => admin.disconnect());
beforeEach(() => admin.flushall());

function open(t, options) {
  const queue = new Bull(`queue-${t.name.replaceAll(/[^a-z]+/gi, '-')}`, { redis: { host, port }, ...options });
  queue.on('error', () => {});
  t.after(() => queue.close());
  return queue;
}

const settled = (queue, event, count) => new Promise((resolve) => {
  const seen = [];
  queue.on(event, (...words) => { if (seen.push(words) === count) resolve(seen); });
});

test('every job is done once, and its result is kept', async (t) => {
  const queue = open(t);
  const done = settled(queue, 'completed', 40);
  queue.process(5, async (job) => job.data.n * 2);
  const jobs = await queue.addBulk(Array.from({ length: 40 }, (_, n) => ({ data: { n } })));
  await done;
  const results = await Promise.all(jobs.map(async ({ id }) => (await queue.getJob(id)).returnvalue));
  assert.deepEqual(results, Array.from({ length: 40 }, (_, n) => n * 2));
  assert.equal((await queue.getJobCounts()).completed, 40);
});

test('a delayed job waits; a failing one is tried again, then stays failed', async (t) => {
  const queue = open(t);
  const began = Date.now();
  const done = settled(queue, 'completed', 1);
  const failed = settled(queue, 'failed', 3);
  queue.process(async (job) => {
    if (job.data.fails) throw new Error('no');
    return Date.now() - began;
  });
  await queue.add({}, { delay: 300 });
  const stubborn = await queue.add({ fails: true }, { attempts: 3, backoff: 50 });
  assert.ok((await done)[0][1] >= 295);
  await failed;
  await eventually(() => stubborn.isFailed());
  assert.equal((await queue.getJob(stubborn.id)).attemptsMade, 3);
});

test('priorities go first, a paused queue waits, progress is told', async (t) => {
  const queue = open(t);
  await queue.pause();
  for (const priority of [3, 1, 2]) await queue.add({ priority }, { priority });
  const order = [], progress = [];
  const done = settled(queue, 'completed', 3);
  queue.on('global:progress', (id, percent) => progress.push(Number(percent)));
  queue.process(async (job) => { order.push(job.data.priority); await job.progress(50); });
  assert.equal(await queue.isPaused(), true);
  await queue.resume();
  await done;
  assert.deepEqual(order, [1, 2, 3]);
  await eventually(() => progress.length === 3);
});

test('a repeated job comes again and again until it is removed', async (t) => {
  const queue = open(t);
  const done = settled(queue, 'completed', 2);
  queue.process('beat', async () => 'beat');
  await queue.add('beat', {}, { repeat: { every: 200 } });
  await done;
  const [repeated] = await queue.getRepeatableJobs();
  assert.equal(Number(repeated.every), 200);
  await queue.removeRepeatableByKey(repeated.key);
  assert.deepEqual(await queue.getRepeatableJobs(), []);
});

test('a rate limit holds jobs back, and obliterating leaves no key', async (t) => {
  const queue = open(t, { limiter: { max: 3, duration: 300 } });
  const times = [];
  const done = settled(queue, 'completed', 7);
  queue.process(7, async () => { times.push(Date.now()); });
  await queue.addBulk(Array.from({ length: 7 }, () => ({ data: {} })));
  await done;
  assert.ok(times[6] - times[0] >= 450, `${times[6] - times[0]} ms`);
  await queue.obliterate({ force: true });
  await eventually(async () => (await admin.keys(`bull:${queue.name}:*`)).filter((key) => !/limiter|stalled-check/.test(key)).length === 0);
});
