// The features of a test server through ioredis and node-redis: time that the test moves, snapshots, worlds. No test
// sleeps.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before } from 'node:test';
import Redis from 'ioredis';
import { createClient } from 'redis';
import { OwnServer, host, serverProgram, test as limited } from '../support.js';

// A Redis has no test commands.
const { stdout, stderr } = spawnSync(serverProgram, ['--help'], { encoding: 'utf8' });
const hasTest = (stdout + stderr).includes('--test ');
const test = hasTest ? limited : limited.skip;

let server, client;
const cleanups = [];

before(async () => {
  if (!hasTest) return;
  server = await OwnServer.start({ after: (cleanup) => cleanups.push(cleanup) }, '--test-commands', 'local');
  client = new Redis(server.port, host);
});
after(async () => {
  client?.disconnect();
  for (const cleanup of cleanups) await cleanup();
});

async function freeze() {
  await client.call('TEST', 'RESET', 'DATA', 'CONFIG', 'CLOCK');
  await client.call('TEST', 'CLOCK', 'FREEZE', '1700000000000');
}
const advance = async (duration) => assert.equal(await client.call('TEST', 'CLOCK', 'ADVANCE', duration), 'OK');

test('a watchdog keeps a lock of 30 s, and nobody else gets it before that', async () => {
  await freeze();
  const take = (owner) => client.set('lock', owner, 'PX', 30_000, 'NX');
  const renew = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], 30000) end return 0";
  assert.equal(await take('ann'), 'OK');
  for (let tick = 0; tick < 6; tick++) {
    await advance('10s');
    assert.equal(await client.eval(renew, 1, 'lock', 'ann'), 1);
    assert.equal(await take('bob'), null);
  }
  await advance('30s');
  assert.equal(await take('bob'), 'OK');
  assert.equal(await client.eval(renew, 1, 'lock', 'ann'), 0);
});

test('a delayed queue delivers in time', async () => {
  await freeze();
  const now = async () => Number((await client.time())[0]) * 1000;
  await client.zadd('delayed', (await now()) + 3_600_000, 'mail');
  const due = async () => client.zrangebyscore('delayed', '-inf', await now());
  assert.deepEqual(await due(), []);
  await advance('1h');
  assert.deepEqual(await due(), ['mail']);
});

test('pending entries are claimed after an hour', async () => {
  await freeze();
  await client.xgroup('CREATE', 'orders', 'workers', '0', 'MKSTREAM');
  const id = await client.xadd('orders', '*', 'n', '1');
  await client.xreadgroup('GROUP', 'workers', 'dies', 'STREAMS', 'orders', '>');
  await advance('59m');
  assert.deepEqual((await client.xautoclaim('orders', 'workers', 'lives', 3_600_000, '0'))[1], []);
  await advance('1m');
  assert.equal((await client.xautoclaim('orders', 'workers', 'lives', 3_600_000, '0'))[1][0][0], id);
});

test('a rate limiter allows a hundred a minute', async () => {
  await freeze();
  const allowed = async () => {
    const count = await client.incr('rate');
    if (count === 1) await client.expire('rate', 60);
    return count <= 100;
  };
  const count = async () => (await Promise.all(Array.from({ length: 150 }, allowed))).filter(Boolean).length;
  assert.equal(await count(), 100);
  await advance('1m');
  assert.equal(await count(), 100);
});

test('a session expires, and a cache with jitter key by key', async () => {
  await freeze();
  await client.config('SET', 'notify-keyspace-events', 'Ex');
  const listener = new Redis(server.port, host);
  const expired = [];
  const all = new Promise((resolve) => {
    listener.on('pmessage', (_pattern, _channel, key) => expired.push(key) === 4 && resolve());
  });
  await listener.psubscribe('__keyevent@*__:expired');
  await client.set('session', 'ann', 'EX', 1800);
  for (const [key, jitter] of [['a', 7], ['b', 3], ['c', 5]]) await client.set(key, 'html', 'EX', 60 + jitter);
  await advance('30m');
  await all;
  listener.disconnect();
  assert.deepEqual(expired, ['b', 'c', 'a', 'session']);
});

test('node-redis begins each test with the same data', async () => {
  const redis = await createClient({ socket: { host, port: server.port } }).connect();
  await redis.sendCommand(['TEST', 'RESET', 'DATA', 'SNAPSHOTS', 'CLOCK']);
  await redis.set('stock:1', '100');
  await redis.sendCommand(['TEST', 'SNAPSHOT', 'SAVE', 'shop']);
  for (let number = 0; number < 20; number++) {
    await redis.sendCommand(['TEST', 'SNAPSHOT', 'RESTORE', 'shop']);
    assert.equal(await redis.get('stock:1'), '100');
    await (number % 2 ? redis.flushAll() : redis.decrBy('stock:1', number));
  }
  await redis.close();
});

test('workers share a server but no data', async () => {
  const workers = Array.from({ length: 4 }, (_, n) => new Redis(`redis://world.w${n}:any@${host}:${server.port}/0`));
  await Promise.all(workers.map((worker, n) => worker.set('worker', n)));
  await workers[0].flushall();
  assert.deepEqual(await Promise.all(workers.map((worker) => worker.get('worker'))), [null, '1', '2', '3']);
  for (const worker of workers) worker.disconnect();
  const other = await createClient({ url: `redis://world.w1:any@${host}:${server.port}/0` }).connect();
  assert.equal(await other.get('worker'), '1');
  await other.close();
});

test('the journal shows round trips, and a lock that is taken in two steps', async () => {
  await client.call('TEST', 'RESET', 'DATA', 'CLOCK', 'JOURNAL');
  await client.call('TEST', 'JOURNAL', 'START');
  const app = new Redis(server.port, host, { connectionName: 'app' });
  try {
    await app.ping();
    await client.call('TEST', 'JOURNAL', 'CLEAR');
    await app.pipeline().setnx('lock', 'me').expire('lock', 30).exec();
    assert.equal(await client.call('TEST', 'EXPECT', 'ROUNDTRIPS', 'AT-MOST', 1, 'CLIENT', 'app'), 'OK');
    assert.equal(
      await client.call('TEST', 'EXPECT', 'SEQUENCE', 'COMMAND', 'setnx', 'THEN', 'COMMAND', 'expire', 'KEY', 'lock'), 'OK');
    await assert.rejects(client.call('TEST', 'EXPECT', 'COMMAND', 'setnx', 'NONE'), {
      message: /^EXPECT wanted none of \[COMMAND setnx\], saw 1: \| #\d+ app: setnx lock me -> ok$/,
    });
  } finally {
    app.disconnect();
  }
});

test('a worker is awaited instead of a sleep', async () => {
  await client.call('TEST', 'RESET', 'DATA', 'CLOCK');
  const worker = new Redis(server.port, host);
  try {
    const popped = worker.blpop('jobs', 0);
    assert.equal(await client.call('TEST', 'AWAIT', 'BLOCKED', 1, 'KEY', 'jobs'), 'OK');
    await client.rpush('jobs', 'job');
    assert.deepEqual(await popped, ['jobs', 'job']);
    await assert.rejects(client.call('TEST', 'AWAIT', 'BLOCKED', 1, 'TIMEOUT', '20ms'), {
      message: 'AWAIT wanted at least 1 blocked clients, saw 0 after 20ms',
    });
  } finally {
    worker.disconnect();
  }
});

const findings = async () =>
  (await client.call('TEST', 'LINT', 'REPORT')).map((row) => {
    const finding = Object.fromEntries(Array.from({ length: row.length / 2 }, (_, i) => [row[2 * i], row[2 * i + 1]]));
    return `${finding.rule} ${finding.name} ${finding.request}`;
  });

test('wrong locks and lost updates are found, and their mended twins are not', async () => {
  await client.call('TEST', 'RESET', 'DATA', 'CLOCK', 'LINT');
  await client.call('TEST', 'LINT', 'ON', 'lock-without-ttl', 'foreign-unlock', 'lost-update', 'cross-slot');
  const anna = new Redis(server.port, host, { connectionName: 'anna' });
  const bob = createClient({ url: `redis://${host}:${server.port}`, name: 'bob' });
  await bob.connect();
  try {
    const unlock = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    await anna.set('lock', 'a', 'PX', 100, 'NX');
    assert.equal(await anna.eval(unlock, 1, 'lock', 'a'), 1);
    await bob.set('stock', '10');
    await anna.incr('stock');
    await anna.mget('{cart}:1', '{cart}:2');
    assert.deepEqual(await findings(), []);

    await anna.setnx('lock', 'a');
    await anna.pexpire('lock', 100);
    await client.call('TEST', 'CLOCK', 'ADVANCE', '1s');
    await bob.set('lock', 'b', { NX: true, PX: 1000 });
    await anna.del('lock');
    const stock = Number(await anna.get('stock'));
    await bob.decr('stock');
    await anna.set('stock', stock + 1);
    await bob.mGet(['cart:1', 'cart:2']);
    assert.deepEqual(await findings(), [
      'lock-without-ttl anna setnx lock a',
      'foreign-unlock anna del lock',
      'lost-update anna set stock 12',
      'cross-slot bob MGET cart:1 cart:2',
    ]);
    await client.call('TEST', 'LINT', 'STRICT', 'lock-without-ttl');
    await assert.rejects(anna.setnx('other', 'a'), /^ReplyError: LINT lock-without-ttl: other is set without a deadline/);
  } finally {
    anna.disconnect();
    bob.destroy?.();
    await client.call('TEST', 'RESET', 'LINT');
  }
});

test('what the application asked for in vain', async () => {
  await client.call('TEST', 'MISSING', 'CLEAR');
  await assert.rejects(client.call('SET', 'k', 'v', 'NONSENSE'));
  await assert.rejects(client.call('CLIENT', 'NONSENSE'));
  const rows = await client.call('TEST', 'MISSING');
  assert.deepEqual(rows.map((row) => `${row[1]} ${row[3]}`), ['option SET NONSENSE', 'subcommand CLIENT NONSENSE']);
});

test('the report shows who held the lock', async () => {
  await client.call('TEST', 'RESET', 'DATA', 'CLOCK', 'JOURNAL');
  await client.call('TEST', 'JOURNAL', 'START');
  const anna = new Redis(server.port, host, { connectionName: 'anna' });
  try {
    await anna.set('lock', 'a', 'PX', 1000, 'NX');
    await anna.del('lock');
    const text = await client.call('TEST', 'REPORT', 'TEXT', 'KEY', 'lock');
    assert.match(text, /anna held lock: deleted by anna\n$/);
    assert.match(await client.call('TEST', 'REPORT', 'HTML', 'KEY', 'lock'), /^<!doctype html>/i);
  } finally {
    anna.disconnect();
  }
});

test('an order that nobody promised changes', async () => {
  await client.call('TEST', 'RESET', 'DATA');
  const names = Array.from({ length: 20 }, (_, i) => `name-${i}`);
  await client.sadd('names', ...names);
  await client.hset('ages', Object.fromEntries(names.map((name, age) => [name, age])));
  await client.call('TEST', 'SHUFFLE', 'ON');
  const orders = new Set();
  for (let i = 0; i < 5; i++) orders.add((await client.smembers('names')).join(' '));
  assert.ok(orders.size > 1);
  assert.deepEqual((await client.hgetall('ages'))['name-7'], '7');
  await client.call('TEST', 'RESET', 'SHUFFLE');
});
