// BullMQ: queues, workers and flows, over ioredis or over node-redis; also after a killed worker and a killed server.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach } from 'node:test';
import { FlowProducer, Job, Queue, QueueEvents, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { OwnServer, eventually, host, port, test } from '../support.js';

function client(t, options = {}) {
  const at = { host, port, ...options };
  if (process.env.BULLMQ_CLIENT === 'redis') {
    const { retryStrategy, ...socket } = at;
    const connection = createClient({ socket: { ...socket, reconnectStrategy: retryStrategy } }).on('error', () => {});
    t.after(() => connection.isOpen && connection.destroy());
    return connection;
  }
  const connection = new Redis({ ...at, maxRetriesPerRequest: null }).on('error', () => {});
  t.after(() => connection.disconnect());
  return connection;
}

/** Creates the parts of one queue, which are closed when the test ends. */
function parts(t, options) {
  const name = `queue-${t.name.replaceAll(/[^a-z]+/gi, '-')}`;
  const opened = (part) => {
    part.on('error', () => {});
    t.after(() => part.close(true));
    return part;
  };
  return {
    name,
    queue: opened(new Queue(name, { connection: client(t, options) })),
    worker: (process, more) => opened(new Worker(name, process, { connection: client(t, options), drainDelay: 1, ...more })),
    events: async () => {
      const events = opened(new QueueEvents(name, { connection: client(t, options) }));
      await events.waitUntilReady();
      return events;
    },
    flows: () => opened(new FlowProducer({ connection: client(t, options) })),
  };
}

const settled = (worker, event, count) => new Promise((resolve) => {
  const seen = [];
  worker.on(event, (...words) => { if (seen.push(words) === count) resolve(seen); });
});

beforeEach(async () => {
  const admin = new Redis({ host, port });
  await admin.flushall();
  admin.disconnect();
});

test('every job is done once, whoever does it, and its result is told', async (t) => {
  const { queue, worker, events } = parts(t);
  const told = settled(await events(), 'completed', 60);
  const done = [];
  for (let i = 0; i < 3; i++) worker(async (job) => { done.push(job.data.n); return job.data.n * 2; }, { concurrency: 4 });
  await queue.addBulk(Array.from({ length: 60 }, (_, n) => ({ name: 'double', data: { n } })));
  const results = (await told).map(([{ returnvalue }]) => Number(returnvalue));
  assert.deepEqual(results.sort((a, b) => a - b), Array.from({ length: 60 }, (_, n) => n * 2));
  assert.equal(new Set(done).size, 60);
  assert.equal(done.length, 60);
  assert.equal((await queue.getJobCounts('completed')).completed, 60);
});

test('a delayed job waits for its time, and can be promoted', async (t) => {
  const { queue, worker } = parts(t);
  const running = worker(async () => Date.now());
  const added = Date.now();
  const job = await queue.add('later', {}, { delay: 400 });
  const far = await queue.add('much later', {}, { delay: 3_600_000 });
  assert.equal(await job.getState(), 'delayed');
  const [[first, at]] = await settled(running, 'completed', 1);
  assert.equal(first.name, 'later');
  assert.ok(at - added >= 395, `after ${at - added} ms`);
  const second = settled(running, 'completed', 1);
  await far.promote();
  assert.equal((await second)[0][0].name, 'much later');
});

test('priorities go first, and the last in of a stack', async (t) => {
  const { queue, worker } = parts(t);
  for (const priority of [3, 1, 2]) await queue.add(`priority ${priority}`, {}, { priority });
  await queue.add('plain', {});
  await queue.add('on top', {}, { lifo: true });
  const order = [];
  await settled(worker(async (job) => order.push(job.name)), 'completed', 5);
  assert.deepEqual(order, ['on top', 'plain', 'priority 1', 'priority 2', 'priority 3']);
});

test('a parent waits for its children and reads their results', async (t) => {
  const { name, worker, flows } = parts(t);
  const running = worker(async (job) => {
    if (job.name !== 'cake') return `${job.name} ready`;
    return Object.values(await job.getChildrenValues()).sort();
  }, { concurrency: 3 });
  const children = ['dough', 'cream'].map((child) => ({ name: child, queueName: name, data: {} }));
  const done = settled(running, 'completed', 3);
  const tree = await flows().add({ name: 'cake', queueName: name, data: {}, children });
  assert.equal(await tree.job.getState(), 'waiting-children');
  const results = await done;
  assert.deepEqual(results.at(-1)[1], ['cream ready', 'dough ready']);
});

test('a failed child fails its parent when asked to', async (t) => {
  const { queue, name, worker, flows } = parts(t);
  worker(async () => { throw new Error('no flour'); });
  const child = { name: 'dough', queueName: name, data: {}, opts: { failParentOnFailure: true } };
  const tree = await flows().add({ name: 'cake', queueName: name, data: {}, children: [child] });
  await eventually(async () => (await tree.job.getState()) === 'failed');
  const parent = await Job.fromId(queue, tree.job.id);
  assert.match(parent.failedReason, /^child .* failed$/);
});

test('a rate limit holds jobs back', async (t) => {
  const { queue, worker } = parts(t);
  await queue.addBulk(Array.from({ length: 9 }, (_, n) => ({ name: 'call', data: { n } })));
  const times = [];
  await settled(worker(async () => times.push(Date.now()), { limiter: { max: 3, duration: 300 }, concurrency: 9 }), 'completed', 9);
  // Three windows: jobs had to wait for the second and third; the first began a little before its first job ran.
  const waited = times[8] - times[0];
  assert.ok(waited >= 450, `${waited} ms`);
});

test('a failing job is tried again after longer and longer waits, then stays failed', async (t) => {
  const { queue, worker } = parts(t);
  const times = [];
  const running = worker(async (job) => {
    times.push(Date.now());
    throw job.name === 'hopeless' ? new UnrecoverableError('never') : new Error('not yet');
  });
  const failed = settled(running, 'failed', 3);
  const job = await queue.add('stubborn', {}, { attempts: 3, backoff: { type: 'exponential', delay: 100 } });
  await failed;
  assert.ok(times[1] - times[0] >= 95 && times[2] - times[1] >= 195, `${times.map((at) => at - times[0])}`);
  assert.equal(await job.getState(), 'failed');
  assert.equal((await Job.fromId(queue, job.id)).attemptsMade, 3);
  const hopeless = settled(running, 'failed', 1);
  await queue.add('hopeless', {}, { attempts: 3 });
  assert.equal((await hopeless)[0][0].attemptsMade, 1);
});

test('a scheduler makes job after job, and stops when removed', async (t) => {
  const { queue, worker } = parts(t);
  const running = worker(async (job) => job.data);
  const done = settled(running, 'completed', 3);
  await queue.upsertJobScheduler('pulse', { every: 200 }, { name: 'beat', data: { from: 'pulse' } });
  assert.deepEqual((await done)[2][1], { from: 'pulse' });
  const [scheduler] = await queue.getJobSchedulers();
  assert.deepEqual([scheduler.key, Number(scheduler.every)], ['pulse', 200]);
  assert.equal(await queue.removeJobScheduler('pulse'), true);
  assert.equal(await queue.getJobSchedulersCount(), 0);
  await eventually(async () => (await queue.getDelayedCount()) === 0);
  await queue.upsertJobScheduler('clock', { pattern: '* * * * * *' }, { name: 'tick' });
  const [[ticked]] = await settled(running, 'completed', 1);
  assert.equal(ticked.name, 'tick');
});

test('the jobs of a killed worker are done by another', async (t) => {
  const { queue, name, worker, events } = parts(t);
  const job = await queue.add('abandoned', {});
  const stuck = fork(new URL('bullmq-stuck-worker.js', import.meta.url).pathname, [String(port), name]);
  t.after(() => stuck.kill('SIGKILL'));
  await once(stuck, 'message');
  assert.equal(await job.getState(), 'active');
  stuck.kill('SIGKILL');
  await once(stuck, 'exit');
  const stalled = once(await events(), 'stalled');
  const running = worker(async () => 'rescued', { lockDuration: 500, stalledInterval: 200 });
  const [[done, result]] = await settled(running, 'completed', 1);
  assert.deepEqual([done.id, result], [job.id, 'rescued']);
  assert.equal((await stalled)[0].jobId, job.id);
});

test('a paused queue keeps its jobs until it is resumed', async (t) => {
  const { queue, worker } = parts(t);
  const running = worker(async () => 'done');
  await running.waitUntilReady();
  await queue.pause();
  await queue.add('patient', {});
  assert.equal(await queue.isPaused(), true);
  const { paused, wait, waiting } = await queue.getJobCounts();
  assert.equal((paused ?? 0) + (wait ?? 0) + (waiting ?? 0), 1);
  const done = settled(running, 'completed', 1);
  await queue.resume();
  await done;
});

test('only as many finished jobs are kept as asked', async (t) => {
  const { queue, worker } = parts(t);
  const running = worker(async (job) => { if (job.data.n % 2) throw new Error('odd'); });
  const finished = Promise.all([settled(running, 'completed', 10), settled(running, 'failed', 10)]);
  await queue.addBulk(Array.from({ length: 20 }, (_, n) => ({
    name: 'n', data: { n }, opts: { removeOnComplete: { count: 3 }, removeOnFail: true },
  })));
  await finished;
  await eventually(async () => (await queue.getFailedCount()) === 0);
  const kept = await queue.getCompleted();
  assert.deepEqual(kept.map(({ data }) => data.n), [18, 16, 14]);
});

test('one job for one ID, and one for each deduplicated name', async (t) => {
  const { queue } = parts(t);
  await queue.add('a', {}, { jobId: 'order-1' });
  await queue.add('b', {}, { jobId: 'order-1' });
  await queue.add('c', {}, { deduplication: { id: 'once', ttl: 60_000 } });
  await queue.add('d', {}, { deduplication: { id: 'once', ttl: 60_000 } });
  assert.deepEqual((await queue.getWaiting()).map((job) => job.name).sort(), ['a', 'c']);
});

test('progress, logs and changed data are kept with the job', async (t) => {
  const { queue, worker, events } = parts(t);
  const progress = once(await events(), 'progress');
  const running = worker(async (job) => {
    await job.updateProgress({ percent: 50 });
    await job.log('half way');
    await job.updateData({ step: 2 });
  });
  const job = await queue.add('long', { step: 1 });
  await settled(running, 'completed', 1);
  assert.deepEqual((await progress)[0].data, { percent: 50 });
  assert.deepEqual((await queue.getJobLogs(job.id)).logs, ['half way']);
  assert.deepEqual((await queue.getJob(job.id)).data, { step: 2 });
});

test('a queue is drained, cleaned, and obliterated to its last key', async (t) => {
  const { queue, name, worker } = parts(t);
  const running = worker(async () => {});
  await queue.add('done', {});
  await settled(running, 'completed', 1);
  await running.close();
  await queue.addBulk(Array.from({ length: 50 }, () => ({ name: 'waiting', data: {} })));
  await queue.add('delayed', {}, { delay: 60_000 });
  assert.equal((await queue.clean(0, 10, 'completed')).length, 1);
  await queue.drain();
  assert.equal((await queue.getJobCounts()).delayed, 1);
  await queue.addBulk(Array.from({ length: 50 }, () => ({ name: 'waiting', data: {} })));
  await queue.obliterate();
  const admin = new Redis({ host, port });
  t.after(() => admin.disconnect());
  assert.deepEqual(await admin.keys(`bull:${name}:*`), []);
});

test('goes on after the server crashed, with no job lost', async (t) => {
  const own = await OwnServer.start(t, '--appendonly', 'yes', '--appendfsync', 'always');
  const { queue, worker } = parts(t, { port: own.port, retryStrategy: () => 50 });
  const done = new Set();
  worker(async (job) => { done.add(job.data.n); });
  await queue.add('n', { n: 0 });
  await eventually(() => done.size === 1);
  await queue.addBulk(Array.from({ length: 20 }, (_, i) => ({ name: 'n', data: { n: i + 1 }, opts: { delay: 500 } })));
  await own.kill();
  await own.run();
  await eventually(() => done.size === 21, 30_000);
});
