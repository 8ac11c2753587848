// rate-limiter-flexible, over ioredis and over node-redis.
import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import { Redis } from 'ioredis';
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterQueue, RateLimiterRedis } from 'rate-limiter-flexible';
import { createClient } from 'redis';
import { OwnServer, callsIn, eventually, host, port, test, url } from '../support.js';

const clients = { ioredis: new Redis({ host, port }), 'node-redis': await createClient({ url }).connect() };
after(() => Object.values(clients).forEach((client) => (client.disconnect ?? client.destroy).call(client)));
beforeEach(() => clients.ioredis.flushall());

const outcome = (promise) => promise.then(() => 'taken', (refused) => {
  if (refused instanceof Error) throw refused;
  return 'refused';
});

for (const [name, storeClient] of Object.entries(clients)) {
  const limiter = (options) => new RateLimiterRedis({
    storeClient, useRedisPackage: name === 'node-redis', keyPrefix: 'limit', points: 5, duration: 1, ...options,
  });
  const it = (what, body) => test(`${name}: ${what}`, body);

  it('the sixth call in the window is refused, and told how long to wait', async () => {
    const limit = limiter();
    for (let i = 1; i <= 5; i++) assert.equal((await limit.consume('10.0.0.1')).consumedPoints, i);
    const refused = await limit.consume('10.0.0.1').catch((result) => result);
    assert.deepEqual([refused.remainingPoints, refused.consumedPoints, refused.isFirstInDuration], [0, 6, false]);
    assert.ok(refused.msBeforeNext > 0 && refused.msBeforeNext <= 1000);
    assert.equal((await limit.consume('10.0.0.2')).remainingPoints, 4);
    await eventually(async () => (await outcome(limit.consume('10.0.0.1'))) === 'taken', 3000);
  });

  it('a hundred calls at once get exactly the points there are', async () => {
    const limit = limiter({ points: 30, duration: 60 });
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(limit.consume('user'))));
    assert.equal(outcomes.filter((what) => what === 'taken').length, 30);
    assert.equal(await clients.ioredis.get('limit:user'), '100');
    assert.ok((await clients.ioredis.ttl('limit:user')) > 55);
  });

  it('who goes too far is blocked for longer', async () => {
    const limit = limiter({ points: 1, blockDuration: 600 });
    await limit.consume('user');
    assert.equal(await outcome(limit.consume('user')), 'refused');
    assert.ok((await clients.ioredis.ttl('limit:user')) > 590);
  });

  it('points are given back, taken away, set, and deleted', async () => {
    const limit = limiter({ duration: 60 });
    await limit.consume('user', 3);
    assert.equal((await limit.reward('user', 2)).consumedPoints, 1);
    assert.equal((await limit.penalty('user', 4)).consumedPoints, 5);
    assert.equal((await limit.get('user')).remainingPoints, 0);
    await limit.set('user', 2, 100);
    assert.equal((await limit.get('user')).consumedPoints, 2);
    assert.equal(await limit.delete('user'), true);
    assert.equal(await limit.get('user'), null);
  });

  it('a burst is taken from a second purse', async () => {
    const bursty = new BurstyRateLimiter(limiter({ points: 2 }), limiter({ keyPrefix: 'burst', points: 3, duration: 60 }));
    const outcomes = [];
    for (let i = 0; i < 7; i++) outcomes.push(await outcome(bursty.consume('user')));
    assert.deepEqual(outcomes, ['taken', 'taken', 'taken', 'taken', 'taken', 'refused', 'refused']);
  });

  it('a queue lets calls through one window after the other', async () => {
    const queue = new RateLimiterQueue(limiter({ points: 2 }));
    const began = Date.now();
    await Promise.all(Array.from({ length: 5 }, () => queue.removeTokens(1)));
    assert.ok(Date.now() - began >= 1500, `${Date.now() - began} ms`);
  });
}

test('one script run for each call, sent by its digest', async () => {
  const limit = new RateLimiterRedis({ storeClient: clients.ioredis, points: 5, duration: 60 });
  await limit.consume('warm');
  await clients.ioredis.config('RESETSTAT');
  await Promise.all(Array.from({ length: 20 }, () => limit.consume('user').catch(() => {})));
  assert.equal(callsIn(await clients.ioredis.info('commandstats'), 'evalsha'), 20);
});

test('an insurance in memory stands in while the server is away', async (t) => {
  const own = await OwnServer.start(t);
  const storeClient = new Redis({ port: own.port, enableOfflineQueue: false, retryStrategy: () => 50 }).on('error', () => {});
  t.after(() => storeClient.disconnect());
  const insuranceLimiter = new RateLimiterMemory({ points: 1, duration: 60 });
  const limit = new RateLimiterRedis({ storeClient, points: 100, duration: 60, insuranceLimiter });
  await eventually(() => storeClient.status === 'ready');
  await limit.consume('user');
  await own.kill();
  await eventually(() => storeClient.status !== 'ready');
  assert.equal(await outcome(limit.consume('user')), 'taken');
  assert.equal(await outcome(limit.consume('user')), 'refused');
  await own.run();
  await eventually(() => storeClient.status === 'ready');
  assert.equal(await outcome(limit.consume('user')), 'taken');
});
