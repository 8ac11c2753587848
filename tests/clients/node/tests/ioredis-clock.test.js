// What programs do with time, tested on a server whose clock stands still until the test moves it (docs/test_server.md): no
// test sleeps. Each prints how long it took.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { test, testServer } from '../support.js';

const lua = (name) => readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), 'utf8');

const scripts = {
  acquire: { numberOfKeys: 1, lua: lua('acquire_hset') },
  renew: { numberOfKeys: 1, lua: lua('renew') },
  // Takes the jobs that are due by the clock of the server, as queues with delays do.
  takeDue: {
    numberOfKeys: 1,
    lua: `
      local now = redis.call('TIME')
      local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now[1] * 1000 + math.floor(now[2] / 1000))
      if #due > 0 then redis.call('ZREM', KEYS[1], unpack(due)) end
      return due`,
  },
  // So many calls a minute, counted from the first.
  allow: {
    numberOfKeys: 1,
    lua: `
      local calls = redis.call('INCR', KEYS[1])
      if calls == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
      return calls <= tonumber(ARGV[1])`,
  },
};

function open(t) {
  const [host, port] = testServer.split(':');
  const client = new Redis({ host, port, scripts });
  t.after(() => client.disconnect());
  return client;
}

const advance = async (client, duration) => assert.equal(await client.call('TEST', 'CLOCK', 'ADVANCE', duration), 'OK');

async function now(client) {
  const [seconds, microseconds] = await client.time();
  return Number(seconds) * 1000 + Math.floor(microseconds / 1000);
}

/** A test that has a client of the server with a clock that stands still. */
function frozen(name, body) {
  test.onTestServer(name, async (t) => {
    const client = open(t);
    assert.equal(await client.call('TEST', 'RESET'), 'OK');
    await client.call('TEST', 'CLOCK', 'FREEZE');
    const begin = performance.now();
    await body(client, t);
    t.diagnostic(`${(performance.now() - begin).toFixed(1)} ms`);
    await client.call('TEST', 'RESET');
  });
}

frozen('a lock of 30 s with a watchdog every 10 s', async (client) => {
  assert.equal(await client.acquire('lock:order', 30_000, 'uuid:1'), null);
  for (let i = 0; i < 6; i++) {
    await advance(client, '10s');
    assert.equal(await client.pttl('lock:order'), 20_000);
    assert.equal(await client.renew('lock:order', 30_000, 'uuid:1'), 1);
  }
  assert.equal(await client.acquire('lock:order', 30_000, 'uuid:2'), 30_000);
  await advance(client, '29999ms');
  assert.equal(await client.acquire('lock:order', 30_000, 'uuid:2'), 1);
  await advance(client, '2ms');
  assert.equal(await client.renew('lock:order', 30_000, 'uuid:1'), 0);
  assert.equal(await client.acquire('lock:order', 30_000, 'uuid:2'), null);
});

frozen('a delayed queue', async (client) => {
  const begin = await now(client);
  await client.zadd('delayed', begin + 60_000, 'mail', begin + 3_600_000, 'report', begin + 60_000, 'invoice');
  assert.deepEqual(await client.takeDue('delayed'), []);
  await advance(client, '59999ms');
  assert.deepEqual(await client.takeDue('delayed'), []);
  await advance(client, '1ms');
  assert.deepEqual(await client.takeDue('delayed'), ['invoice', 'mail']);
  await advance(client, '59m');
  assert.deepEqual(await client.takeDue('delayed'), ['report']);
  assert.equal(await client.zcard('delayed'), 0);
});

frozen('pending entries are claimed after an hour', async (client) => {
  await client.xgroup('CREATE', 'orders', 'workers', '0', 'MKSTREAM');
  const entry = await client.xadd('orders', '*', 'item', '1');
  assert.equal(entry, `${await now(client)}-0`);
  await client.xreadgroup('GROUP', 'workers', 'dead', 'STREAMS', 'orders', '>');
  const claim = async () => (await client.xautoclaim('orders', 'workers', 'alive', 3_600_000, '0'))[1];
  await advance(client, '59m');
  assert.deepEqual(await claim(), []);
  await advance(client, '1m');
  assert.equal((await client.xpending('orders', 'workers', '-', '+', 10))[0][2], 3_600_000);
  assert.deepEqual(await claim(), [[entry, ['item', '1']]]);
  assert.equal(await client.xack('orders', 'workers', entry), 1);
});

frozen('a rate limiter of 100 a minute', async (client) => {
  const allowed = async (calls) => {
    const replies = await Promise.all(Array.from({ length: calls }, () => client.allow('calls:alice', 100, 60)));
    return replies.filter((reply) => reply === 1).length;
  };
  assert.equal(await allowed(40), 40);
  await advance(client, '30s');
  assert.equal(await allowed(70), 60);
  await advance(client, '29999ms');
  assert.equal(await allowed(1), 0);
  await advance(client, '2ms');
  assert.equal(await allowed(101), 100);
});

frozen('a session expires 30 minutes after its last use', async (client) => {
  await client.set('session:1', 'alice', 'EX', 1800);
  for (let i = 0; i < 3; i++) {
    await advance(client, '29m');
    assert.equal(await client.getex('session:1', 'EX', 1800), 'alice');
  }
  await advance(client, '1799999ms');
  assert.equal(await client.get('session:1'), 'alice');
  await advance(client, '2ms');
  assert.equal(await client.get('session:1'), null);
});

frozen('the end of a session is told', async (client, t) => {
  await client.config('SET', 'notify-keyspace-events', 'Ex');
  const listener = open(t);
  await listener.subscribe('__keyevent@0__:expired');
  const told = once(listener, 'message');
  await client.set('session:1', 'alice', 'EX', 1800);
  await advance(client, '30m');
  assert.deepEqual(await told, ['__keyevent@0__:expired', 'session:1']);
});

frozen('a cache with jitter expires little by little', async (client, t) => {
  const jitters = Array.from({ length: 200 }, () => randomInt(60));
  t.diagnostic(`jitters ${jitters}`);
  await Promise.all(jitters.map((jitter, i) => client.set(`cache:${i}`, 'value', 'EX', 600 + jitter)));
  await advance(client, '599999ms');
  assert.equal(await client.dbsize(), 200);
  await advance(client, '2ms');
  for (let second = 0; second < 60; second += 5) {
    assert.equal(await client.dbsize(), jitters.filter((jitter) => jitter > second).length);
    await advance(client, '5s');
  }
  assert.equal(await client.dbsize(), 0);
});
