// bee-queue: small jobs fast, with progress, retries, delays and stalled jobs.
import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import BeeQueue from 'bee-queue';
import { Redis } from 'ioredis';
import { eventually, host, port, test } from '../support.js';

const admin = new Redis({ host, port });
after(() => admin.disconnect());
beforeEach(() => admin.flushall());

function open(t, options) {
  const queue = new BeeQueue('jobs', { redis: { host, port }, activateDelayedJobs: true, delayedDebounce: 50, ...options });
  queue.on('error', () => {});
  t.after(() => queue.close(1000));
  return queue;
}

test('jobs made in one place are done in another, their progress and results told', async (t) => {
  const [maker, worker] = [open(t, { isWorker: false }), open(t)];
  worker.process(4, async (job) => {
    job.reportProgress({ half: true });
    return job.data.n * 2;
  });
  const jobs = Array.from({ length: 30 }, (_, n) => maker.createJob({ n }));
  const progress = [];
  const results = Promise.all(jobs.map((job) => new Promise((resolve) => {
    job.on('progress', (what) => progress.push(what));
    job.on('succeeded', resolve);
  })));
  await maker.ready();
  assert.equal((await maker.saveAll(jobs)).size, 0);
  assert.deepEqual(await results, Array.from({ length: 30 }, (_, n) => n * 2));
  assert.deepEqual(progress[0], { half: true });
  assert.equal((await maker.checkHealth()).succeeded, 30);
});

test('a failing job is tried again, after a wait, as often as allowed', async (t) => {
  const queue = open(t);
  const times = [];
  queue.process(async () => { times.push(Date.now()); throw new Error('no'); });
  const job = await queue.createJob({}).retries(2).backoff('fixed', 150).save();
  await eventually(async () => (await queue.checkHealth()).failed === 1);
  assert.equal(times.length, 3);
  assert.ok(times[2] - times[0] >= 290, `${times[2] - times[0]} ms`);
  await eventually(async () => (await queue.getJob(job.id)).status === 'failed');
});

test('a delayed job waits for its time', async (t) => {
  const queue = open(t);
  const due = Date.now() + 400;
  const done = new Promise((resolve) => queue.process(async () => resolve(Date.now())));
  await queue.createJob({}).delayUntil(due).save();
  assert.ok((await done) >= due - 5);
});

test('jobs of a worker that disappeared are found stalled and done', async (t) => {
  const lost = new BeeQueue('jobs', { redis: { host, port }, stallInterval: 300 });
  lost.on('error', () => {});
  const taken = new Promise((resolve) => lost.process(() => { resolve(); return new Promise(() => {}); }));
  await lost.createJob({ n: 1 }).save();
  await taken;
  await lost.close(1).catch(() => {}); // it does not end in time, so the connection is just closed
  const queue = open(t, { stallInterval: 300 });
  const done = new Promise((resolve) => queue.process(async (job) => resolve(job.data.n)));
  let found = 0;
  await eventually(async () => (found += await queue.checkStalledJobs()) > 0);
  assert.equal(await done, 1);
});

test('destroying a queue leaves no key', async (t) => {
  const queue = open(t, { isWorker: false });
  await queue.createJob({}).save();
  await queue.destroy();
  assert.deepEqual(await admin.keys('*'), []);
});
