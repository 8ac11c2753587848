// redlock: one lock over one server, over three, and over three of which one died.
import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { OwnServer, eventually, host, port, test } from '../support.js';

function connect(t, at) {
  const client = new Redis({ host, port, ...at, enableOfflineQueue: false, retryStrategy: null }).on('error', () => {});
  t.after(() => client.disconnect());
  return eventually(() => client.status === 'ready' && client);
}

beforeEach(async () => {
  const admin = new Redis({ host, port });
  await admin.flushall();
  admin.disconnect();
});

const impatient = { retryCount: 0 };

test('a lock excludes others until it is released', async (t) => {
  const client = await connect(t);
  const redlock = new Redlock([client], impatient);
  const lock = await redlock.lock('locks:account', 5000);
  assert.equal(await client.get('locks:account'), lock.value);
  await assert.rejects(redlock.lock('locks:account', 5000), { name: 'LockError' });
  await lock.unlock();
  assert.equal(await client.exists('locks:account'), 0);
  await (await redlock.lock('locks:account', 5000)).unlock();
});

test('a lock over several keys is taken whole or not at all', async (t) => {
  const client = await connect(t);
  const redlock = new Redlock([client], impatient);
  const one = await redlock.lock(['a', 'b'], 5000);
  await assert.rejects(redlock.lock(['b', 'c'], 5000), { name: 'LockError' });
  assert.equal(await client.exists('c'), 0);
  await one.unlock();
  assert.equal(await client.exists('a', 'b'), 0);
});

test('a lock is extended by its holder, and ends by itself', async (t) => {
  const client = await connect(t);
  const redlock = new Redlock([client], impatient);
  const lock = await redlock.lock('job', 300);
  const extended = await lock.extend(2000);
  assert.ok((await client.pttl('job')) > 1500);
  await extended.unlock();
  const short = await redlock.lock('job', 100);
  await eventually(async () => (await client.exists('job')) === 0);
  const other = await redlock.lock('job', 5000);
  await assert.rejects(short.unlock(), { name: 'LockError' });
  assert.equal(await client.get('job'), other.value);
});

test('a hundred waiters add one each, and none is lost', async (t) => {
  const client = await connect(t);
  const redlock = new Redlock([client], { retryCount: -1, retryDelay: 5, retryJitter: 10 });
  await client.set('stock', 100);
  await Promise.all(Array.from({ length: 100 }, async () => {
    const lock = await redlock.lock('lock', 10_000);
    const stock = Number(await client.get('stock'));
    await pause(1);
    await client.set('stock', stock - 1);
    await lock.unlock();
  }));
  assert.equal(await client.get('stock'), '0');
});

test('a lock needs most of three servers: one may die, two may not', async (t) => {
  const servers = await Promise.all([0, 1, 2].map(() => OwnServer.start(t)));
  const clients = await Promise.all(servers.map((server) => connect(t, { port: server.port })));
  const redlock = new Redlock(clients, impatient);
  redlock.on('clientError', () => {});
  const lock = await redlock.lock('resource', 10_000);
  for (const client of clients) assert.equal(await client.get('resource'), lock.value);
  await servers[2].kill();
  await lock.unlock();
  const again = await redlock.lock('resource', 10_000);
  await assert.rejects(redlock.lock('resource', 10_000), { name: 'LockError' });
  await again.unlock();
  await servers[1].kill();
  await assert.rejects(redlock.lock('resource', 10_000), { name: 'LockError' });
  assert.equal(await clients[0].exists('resource'), 0);
});
