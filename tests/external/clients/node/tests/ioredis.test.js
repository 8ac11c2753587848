// ioredis: everything that applications do with it, from pipelines to waiting for a server that is loading.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { beforeEach, describe } from 'node:test';
import { OwnServer, callsIn, eventually, host, port, startWithTls, test, versionOf } from '../support.js';

const { Redis, Command } = await import(process.env.CLIENT_PACKAGE ?? 'ioredis');
// Version 6 speaks RESP3 by default; version 5 knows only RESP2.
const protocols = process.env.CLIENT_PACKAGE ? [2] : [2, 3];

function connect(t, options = {}) {
  const client = new Redis({ host, port, ...options });
  client.on('error', () => {}); // a lost connection is also an event; the tests use the errors of commands
  t.after(() => client.disconnect());
  return client;
}

beforeEach(async () => {
  const client = new Redis({ host, port });
  await client.flushall();
  await client.script('FLUSH');
  client.disconnect();
});

for (const protocol of protocols) {
  describe(`RESP${protocol}`, () => {
    const open = (t, options) => connect(t, protocols.length > 1 ? { protocol, ...options } : options);
    const it = (name, body) => test(`RESP${protocol}: ${name}`, body);

    it('strings, hashes, lists, sets and ranks answer as printed', async (t) => {
      const client = open(t);
      assert.equal(await client.set('name', '虎哥', 'EX', 60, 'NX'), 'OK');
      assert.equal(await client.set('name', 'x', 'NX'), null);
      assert.equal(await client.hset('user:1', { id: 1, name: 'Jack' }), 2);
      assert.deepEqual(await client.hgetall('user:1'), { id: '1', name: 'Jack' });
      assert.deepEqual(await client.hgetall('user:2'), {});
      await client.rpush('task:queue', 'task1', 'task2', 'task3');
      assert.deepEqual(await client.blpop('task:queue', 5), ['task:queue', 'task1']);
      await client.sadd('user:1:tags', '旅游', '摄影', '健身');
      assert.equal(await client.sadd('user:2:tags', '旅游', '美食'), 2);
      assert.deepEqual(await client.sinter('user:1:tags', 'user:2:tags'), ['旅游']);
      await client.zadd('game:rank', 500, 'Tom', 800, 'Jerry', 700, 'Mike', 400, 'Amy', 300, 'Lucy');
      const top = await client.zrevrange('game:rank', 0, 2, 'WITHSCORES');
      assert.deepEqual(top.flat().map(String), ['Jerry', '800', 'Mike', '700', 'Tom', '500']);
      assert.equal(await client.zscore('game:rank', 'Nobody'), null);
    });

    it('a pipeline answers each command, errors in their place', async (t) => {
      const client = open(t);
      const results = await client.pipeline().set('a', 'x').incr('a').lpush('list', '1', '2').get('a').exec();
      assert.deepEqual([results[0], results[2], results[3]], [[null, 'OK'], [null, 2], [null, 'x']]);
      assert.equal(results[1][0].message, 'ERR value is not an integer or out of range');
    });

    it('20 000 SETs and GETs in two pipelines keep their order', async (t) => {
      const client = open(t);
      const numbers = Array.from({ length: 20_000 }, (_, i) => i);
      const writing = client.pipeline(numbers.map((i) => ['set', `batch:${i}`, `value ${i}`]));
      assert.ok((await writing.exec()).every(([error, reply]) => !error && reply === 'OK'));
      const read = await client.pipeline(numbers.map((i) => ['get', `batch:${i}`])).exec();
      assert.deepEqual(read.map(([, reply]) => reply), numbers.map((i) => `value ${i}`));
      assert.equal(await client.dbsize(), 20_000);
    });

    it('a transaction runs, is discarded for a bad command, and is void after a watched change', async (t) => {
      const [client, other] = [open(t), open(t)];
      assert.deepEqual(await client.multi().set('k', 1).incr('k').exec(), [[null, 'OK'], [null, 2]]);
      await assert.rejects(client.multi().set('only-key').set('k', 3).exec(), (error) => {
        assert.equal(error.message, 'EXECABORT Transaction discarded because of previous errors.');
        assert.equal(error.previousErrors[0].message, "ERR wrong number of arguments for 'set' command");
        return true;
      });
      await client.watch('k');
      await other.set('k', 10);
      assert.equal(await client.multi().incr('k').exec(), null);
      await client.multi({ pipeline: false });
      assert.equal(await client.incr('k'), 'QUEUED');
      assert.deepEqual(await client.exec(), [[null, 11]]);
    });

    it('commands of one tick become a pipeline by themselves', async (t) => {
      const client = open(t, { enableAutoPipelining: true });
      await once(client, 'ready');
      const replies = await Promise.all(Array.from({ length: 500 }, (_, i) => client.incr(`n:${i % 5}`)));
      assert.equal(Math.max(...replies), 100);
      assert.equal(client.autoPipelineQueueSize, 0);
      await client.set('text', 'x');
      const [wrong, right] = await Promise.allSettled([client.lpop('text'), client.get('text')]);
      assert.equal(wrong.reason.message, 'WRONGTYPE Operation against a key holding the wrong kind of value');
      assert.equal(right.value, 'x');
    });

    it('a defined command goes by its digest, and whole after SCRIPT FLUSH', async (t) => {
      const client = open(t);
      client.defineCommand('addAll', { numberOfKeys: 1, lua: "for _, v in ipairs(ARGV) do redis.call('rpush', KEYS[1], v) end return redis.call('llen', KEYS[1])" });
      await client.config('RESETSTAT');
      assert.equal(await client.addAll('list', 'a', 'b'), 2);
      assert.equal(await client.addAll('list', 'c'), 3);
      await client.script('FLUSH');
      assert.equal(await client.addAll('list', 'd'), 4);
      const stats = await client.info('commandstats');
      assert.deepEqual([callsIn(stats, 'evalsha'), callsIn(stats, 'eval')], [2, 2]);
      await client.script('FLUSH');
      const piped = await client.pipeline().addAll('list', 'e').addAll('list', 'f').exec();
      assert.deepEqual(piped, [[null, 5], [null, 6]]);
      await client.script('FLUSH');
      const together = await client.multi().addAll('list', 'g').llen('list').exec();
      // Inside a transaction the client cannot fall back to EVAL: the digest is refused, and the rest runs.
      assert.equal(together[0][0].message, 'NOSCRIPT No matching script. Please use EVAL.');
      assert.deepEqual(together[1], [null, 6]);
      assert.deepEqual(await client.lrange('list', 0, -1), [...'abcdef']);
    });

    it('a stream group is blocked on, read, acknowledged and taken over', async (t) => {
      const [client, other] = [open(t), open(t)];
      await client.xgroup('CREATE', 'stream.orders', 'g1', '0', 'MKSTREAM');
      const waiting = client.xreadgroup('GROUP', 'g1', 'c1', 'COUNT', 1, 'BLOCK', 10_000, 'STREAMS', 'stream.orders', '>');
      await eventually(async () => /cmd=xreadgroup/.test(await other.client('LIST')));
      const id = await other.xadd('stream.orders', '*', 'userId', '1001', 'voucherId', '7');
      assert.deepEqual(await waiting, [['stream.orders', [[id, ['userId', '1001', 'voucherId', '7']]]]]);
      assert.equal(await client.xreadgroup('GROUP', 'g1', 'c1', 'BLOCK', 20, 'STREAMS', 'stream.orders', '>'), null);
      assert.equal(await client.xack('s1', 'g1', id), 0);
      const pending = await client.xreadgroup('GROUP', 'g1', 'c1', 'COUNT', 1, 'STREAMS', 'stream.orders', '0');
      assert.equal(pending[0][1][0][0], id);
      assert.deepEqual(await client.xclaim('stream.orders', 'g1', 'c2', 3_600_000, id), []);
      const [cursor, taken, gone] = await client.xautoclaim('stream.orders', 'g1', 'c2', 0, '0-0', 'COUNT', 10);
      assert.deepEqual([cursor, taken.map(([taken]) => taken), gone], ['0-0', [id], []]);
      assert.equal(await client.xack('stream.orders', 'g1', id), 1);
      assert.deepEqual(await client.xpending('stream.orders', 'g1'), [0, null, null, null]);
      const empty = await client.xreadgroup('GROUP', 'g1', 'c1', 'STREAMS', 'stream.orders', '0');
      assert.deepEqual(empty, [['stream.orders', []]]);
    });

    it('a scan stream meets every key, field and member', async (t) => {
      const client = open(t);
      const names = Array.from({ length: 1200 }, (_, i) => `cache:${i}`);
      await client.pipeline(names.map((name) => ['set', name, 1])).exec();
      await client.set('other', 1);
      await client.hset('fields', Object.fromEntries(names.map((name) => [name, '1'])));
      await client.sadd('members', names);
      const met = async (stream) => {
        const all = new Set();
        for await (const batch of stream) batch.flat().forEach((element) => all.add(element));
        return all;
      };
      assert.deepEqual([...await met(client.scanStream({ match: 'cache:*', count: 100 }))].sort(), [...names].sort());
      assert.deepEqual([...await met(client.scanStream({ type: 'hash' }))], ['fields']);
      assert.equal((await met(client.sscanStream('members', { count: 50 }))).size, 1200);
      assert.equal((await met(client.hscanStream('fields'))).size, 1201);
    });

    it('channels, patterns and shard channels are heard', async (t) => {
      const [listener, sender] = [open(t), open(t)];
      const heard = [];
      listener.on('message', (...words) => heard.push(['message', ...words]));
      listener.on('pmessage', (...words) => heard.push(['pmessage', ...words]));
      listener.on('smessage', (...words) => heard.push(['smessage', ...words]));
      assert.equal(await listener.subscribe('order_channel', 'order.new'), 2);
      assert.equal(await listener.psubscribe('order.*'), 3);
      assert.equal(await listener.ssubscribe('order_channel'), 1);
      assert.equal(await sender.publish('order_channel', 'New order: #12345'), 1);
      assert.equal(await sender.publish('order.new', 'x'), 2);
      assert.equal(await sender.spublish('order_channel', 'y'), 1);
      await eventually(() => heard.length === 4);
      assert.deepEqual(heard, [
        ['message', 'order_channel', 'New order: #12345'],
        ['message', 'order.new', 'x'],
        ['pmessage', 'order.*', 'order.new', 'x'],
        ['smessage', 'order_channel', 'y'],
      ]);
      assert.deepEqual(await sender.pubsub('NUMSUB', 'order.new', 'none'), ['order.new', 1, 'none', 0]);
      await listener.unsubscribe('order_channel', 'order.new');
      await listener.punsubscribe('order.*');
      await listener.sunsubscribe('order_channel');
      assert.equal(await listener.get('k'), null);
    });

    it('a key prefix is put before keys, not before arguments', async (t) => {
      const [client, bare] = [open(t, { keyPrefix: 'app:' }), open(t)];
      await client.set('k', 'v');
      await client.mset({ a: 1, b: 2 });
      await client.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, 'script', 'k');
      await client.zadd('src', 1, 'm');
      await client.zunionstore('dest', 1, 'src');
      await client.xadd('events', '*', 'f', 'v');
      assert.deepEqual((await bare.keys('*')).sort(), ['a', 'b', 'dest', 'events', 'k', 'script', 'src'].map((key) => `app:${key}`));
      assert.equal(await bare.get('app:script'), 'k');
    });

    it('bytes come back as they went', async (t) => {
      const client = open(t);
      const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      await client.set(every, every);
      assert.deepEqual(await client.getBuffer(every), every);
      await client.hset('hash', every, every);
      assert.deepEqual(await client.hgetBuffer('hash', every), every);
      const dump = await client.dumpBuffer(every);
      assert.equal(await client.restore('copy', 0, dump), 'OK');
      assert.deepEqual(await client.getBuffer('copy'), every);
    });

    it('asks again after a crash, in its database, with its subscriptions', async (t) => {
      const own = await OwnServer.start(t, '--appendonly', 'yes', '--appendfsync', 'always');
      const at = { port: own.port, retryStrategy: () => 20, maxRetriesPerRequest: null };
      const [client, listener] = [open(t, { ...at, db: 2, connectionName: 'steady' }), open(t, at)];
      const heard = [];
      listener.on('message', (channel, message) => heard.push(message));
      await listener.subscribe('news');
      await client.set('kept', 'yes');
      const lost = [once(client, 'close'), once(listener, 'close')];
      await own.kill();
      await Promise.all(lost);
      const asked = client.get('kept');
      await own.run();
      assert.equal(await asked, 'yes');
      assert.equal(await client.client('GETNAME'), 'steady');
      await eventually(async () => (await client.publish('news', 'back')) === 1);
      await eventually(() => heard.includes('back'));
    });
  });
}

test('without an offline queue a command is refused while there is no connection', async (t) => {
  const own = await OwnServer.start(t);
  const client = connect(t, { port: own.port, enableOfflineQueue: false, retryStrategy: () => 20 });
  await once(client, 'ready');
  await own.kill();
  await eventually(() => client.status !== 'ready');
  await assert.rejects(client.get('k'), /enableOfflineQueue options is false|Connection is closed/);
  await own.run();
  await eventually(() => client.status === 'ready');
  assert.equal(await client.ping(), 'PONG');
});

test('is ready only when the server has loaded its data', async (t) => {
  const own = await OwnServer.start(t, '--loading-process-events-interval-bytes', 1024, '--key-load-delay', 0);
  const writer = connect(t, { port: own.port });
  await writer.mset(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`key ${i}`, `value ${i}`])));
  await writer.save();
  writer.disconnect();
  await own.kill();
  own.words.splice(-1, 1, 300); // microseconds for each key, so that the client meets the server while it loads
  const running = own.run();
  const [hasty, patient] = [false, true].map((enableReadyCheck) =>
    connect(t, { port: own.port, enableReadyCheck, retryStrategy: () => 5, maxRetriesPerRequest: null }));
  const asked = patient.get('key 2999');
  const refusal = await hasty.get('key 2999').catch((error) => error.message);
  assert.equal(refusal, 'LOADING Redis is loading the dataset in memory');
  assert.notEqual(patient.status, 'ready');
  assert.equal(await asked, 'value 2999');
  await running;
});

test('argument and reply transformers shape what is sent and given', async (t) => {
  const client = connect(t);
  const { argument, reply } = Command._transformer;
  const before = reply.hgetall;
  t.after(() => { reply.hgetall = before; delete argument.echo; });
  Command.setArgumentTransformer('echo', ([text]) => [text.toUpperCase()]);
  assert.equal(await client.echo('loud'), 'LOUD');
  await client.hset('h', new Map([['b', '2'], ['a', '1']]));
  Command.setReplyTransformer('hgetall', (pairs) => Object.entries(before(pairs)).map((pair) => pair.join('=')).sort());
  assert.deepEqual(await client.hgetall('h'), ['a=1', 'b=2']);
});

test('a monitor is told time, words, client and database', async (t) => {
  const [client, watcher] = [connect(t, { db: 1 }), connect(t)];
  await client.ping();
  const monitor = await watcher.monitor();
  t.after(() => monitor.disconnect());
  const seen = [];
  monitor.on('monitor', (...event) => seen.push(event));
  await client.set('qingshan', '26 "73"');
  await client.eval("return redis.call('get', KEYS[1])", 1, 'qingshan');
  await eventually(() => seen.some(([, words]) => words[0] === 'get'));
  const [time, words, source, database] = seen.find(([, words]) => words[0] === 'set');
  assert.match(time, /^\d+\.\d{6}$/);
  assert.deepEqual(words, ['set', 'qingshan', '26 "73"']);
  assert.match(source, /^127\.0\.0\.1:\d+$/);
  assert.equal(database, '1');
  assert.equal(seen.find(([, words]) => words[0] === 'get')[2], 'lua');
});

test('the server knows the client by its library', async (t) => {
  const client = connect(t);
  if (versionOf(await client.info('server')) < 70200) return t.skip('CLIENT SETINFO came with 7.2');
  await eventually(async () => /lib-name=ioredis/.test(await client.client('INFO')));
});

test('QUIT answers what came before it', async (t) => {
  const client = connect(t);
  const counted = Promise.all(Array.from({ length: 50 }, () => client.incr('n')));
  const ended = once(client, 'end');
  assert.equal(await client.quit(), 'OK');
  assert.equal((await counted).at(-1), 50);
  await ended;
});

test('TLS: with a certificate one gets in, without one only when nobody asks', async (t) => {
  const server = await startWithTls(t);
  if (!server) return t.skip('a server without TLS');
  const { ca, cert, key } = server;
  const client = connect(t, { port: server.tlsPort, tls: { ca, cert, key } });
  const value = randomBytes(1_000_000).toString('hex');
  assert.equal(await client.set('long', value), 'OK');
  assert.equal(await client.get('long'), value);
  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.incr('n');
  assert.deepEqual((await pipeline.exec()).at(-1), [null, 1000]);

  const stranger = { port: server.tlsPort, tls: { ca }, retryStrategy: null, maxRetriesPerRequest: 0 };
  await assert.rejects(connect(t, stranger).ping());
  assert.equal(await client.config('SET', 'tls-auth-clients', 'no'), 'OK');
  assert.equal(await connect(t, stranger).ping(), 'PONG');
});
