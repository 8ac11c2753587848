// A session of BullMQ is recorded (--record) and replayed to a server of the same program, and to a real Redis.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { OwnServer, serverProgram, test } from '../support.js';

const JOBS = 12;

/** Jobs that succeed, wait, have priority, fail and are retried. */
async function work(port) {
  const connection = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null });
  const waiting = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null });
  const queue = new Queue('orders', { connection });
  for (let n = 0; n < JOBS; n++) {
    await queue.add('order', { n }, { attempts: 2, priority: n % 3, delay: n % 4 === 0 ? 20 : 0 });
  }
  const worker = new Worker('orders', async (job) => {
    if (job.data.n === 5 && job.attemptsMade === 0) throw new Error('once');
    return job.data.n;
  }, { connection: waiting, drainDelay: 1 });
  let done = 0;
  await new Promise((resolve) => worker.on('completed', () => { if (++done === JOBS) resolve(); }));
  await worker.close();
  await queue.close();
  await Promise.all([connection.quit(), waiting.quit()]);
}

/** Returns the output of the replay, even if it fails. */
const replay = async (...words) => {
  const { stdout } = await promisify(execFile)(serverProgram, ['--replay', ...words], { timeout: 60_000 }).catch((failed) => failed);
  return stdout;
};

const assertSame = (text) => {
  const counts = /\d+ requests on \d+ connections\. Replies: (\d+) the same, 0 different/.exec(text);
  assert.ok(Number(counts?.[1]) > JOBS, text);
};

const realServer = () => {
  try {
    return execFileSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
};

test.onTestServer('a session of BullMQ has the same replies again', async (t) => {
  const recorded = await OwnServer.start(t, '--record', 'session.rec');
  await work(recorded.port);
  await recorded.kill('SIGTERM');
  const file = join(recorded.folder, 'session.rec');
  assertSame(await replay(file));
  const program = realServer();
  if (program === null) return t.diagnostic('there is no redis-server to send it to');
  const real = await OwnServer.startProgram(t, program);
  // Redis before 7.2 does not know CLIENT SETINFO.
  assertSame(await replay(file, '--to', `127.0.0.1:${real.port}`, '--ignore', 'client|setinfo'));
});
