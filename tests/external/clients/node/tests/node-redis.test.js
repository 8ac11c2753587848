// node-redis: everything an application does with it, in both protocols, and what survives a restart of the server.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, describe } from 'node:test';
import { OwnServer, callsIn, eventually, plain, test, url, versionOf } from '../support.js';

const library = await import(process.env.CLIENT_PACKAGE ?? 'redis');
const isFive = process.env.CLIENT_PACKAGE === 'redis5';
const { createClient, createClientPool, defineScript, RESP_TYPES, MultiErrorReply, WatchError } = library;

function closeAtEnd(t, client) {
  t.after(() => {
    try {
      client.destroy();
    } catch {
      // it is closed already
    }
  });
  return client;
}

async function connect(t, options = {}) {
  const client = createClient({ url, ...options });
  client.on('error', () => {}); // a lost connection is also an event; the tests use the errors of commands
  await client.connect();
  return closeAtEnd(t, client);
}

beforeEach(async (t) => {
  const client = await createClient({ url }).connect();
  await client.flushAll();
  await client.sendCommand(['FUNCTION', 'FLUSH']);
  await client.sendCommand(['SCRIPT', 'FLUSH']);
  client.destroy();
});

for (const RESP of [2, 3]) {
  describe(`RESP${RESP}`, () => {
    const open = (t, options) => connect(t, { RESP, ...options });
    const it = (name, body) => test(`RESP${RESP}: ${name}`, body);
    const itReadsStreams = RESP === 3 && isFive ? test.skip : it; // version 5 returns unstable structures there

    it('SET takes its conditions and expiry, and tells the old value', async (t) => {
      const client = await open(t);
      assert.equal(await client.set('k', 'first', { NX: true, EX: 100 }), 'OK');
      assert.equal(await client.set('k', 'second', { NX: true }), null);
      assert.equal(await client.set('absent', 'x', { XX: true }), null);
      assert.equal(await client.set('k', 'third', { GET: true, KEEPTTL: true }), 'first');
      assert.equal(await client.ttl('k'), 100);
      assert.equal(await client.getEx('k', { type: 'PERSIST' }), 'third');
      assert.equal(await client.ttl('k'), -1);
      assert.equal(await client.getDel('k'), 'third');
      assert.equal(await client.get('k'), null);
      assert.deepEqual(await client.mGet(['k', 'absent']), [null, null]);
    });

    it('an empty text is a value, and differs from none', async (t) => {
      const client = await open(t);
      await client.set('shop:0', '', { EX: 120 });
      assert.equal(await client.get('shop:0'), '');
      assert.equal(await client.get('shop:1'), null);
    });

    it('a hash comes back as an object, an absent one as an empty object', async (t) => {
      const client = await open(t);
      assert.equal(await client.hSet('user:1', { name: '虎哥', age: 21 }), 2);
      assert.deepEqual(plain(await client.hGetAll('user:1')), { name: '虎哥', age: '21' });
      assert.deepEqual(plain(await client.hGetAll('user:2')), {});
      assert.equal(await client.hIncrBy('user:1', 'age', 2), 23);
      assert.deepEqual(await client.hmGet('user:1', ['age', 'none']), ['23', null]);
      assert.equal(Number(await client.hIncrByFloat('user:1', 'age', 0.5)), 23.5);
    });

    it('scores are numbers, infinite ones, too', async (t) => {
      const client = await open(t);
      const rank = { Tom: 500, Jerry: 800, Mike: 700, Amy: 400, Lucy: 300 };
      await client.zAdd('game:rank', Object.entries(rank).map(([value, score]) => ({ value, score })));
      assert.deepEqual(plain(await client.zRangeWithScores('game:rank', 0, 2, { REV: true })), [
        { value: 'Jerry', score: 800 },
        { value: 'Mike', score: 700 },
        { value: 'Tom', score: 500 },
      ]);
      assert.equal(await client.zIncrBy('game:rank', 0.1, 'Tom'), 500.1);
      await client.zAdd('game:rank', { value: 'All', score: Infinity });
      assert.equal(await client.zScore('game:rank', 'All'), Infinity);
      assert.equal(await client.zScore('game:rank', 'Nobody'), null);
      assert.deepEqual(plain(await client.zPopMin('game:rank')), { value: 'Lucy', score: 300 });
    });

    it('lists, sets, bits, places and counted elements answer as typed', async (t) => {
      const client = await open(t);
      assert.equal(await client.rPush('list', ['a', 'b', 'c']), 3);
      assert.equal(await client.lMove('list', 'other', 'LEFT', 'RIGHT'), 'a');
      assert.deepEqual(await client.lRange('list', 0, -1), ['b', 'c']);
      await client.sAdd('one', ['旅游', '摄影', '健身']);
      await client.sAdd('two', ['旅游', '美食']);
      assert.deepEqual(await client.sInter(['one', 'two']), ['旅游']);
      assert.deepEqual(await client.smIsMember('one', ['摄影', '美食']), [1, 0]);
      await client.setBit('bits', 7, 1);
      assert.equal(await client.bitCount('bits'), 1);
      await client.geoAdd('Sicily', [
        { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' },
        { longitude: 15.087269, latitude: 37.502669, member: 'Catania' },
      ]);
      assert.equal(Number(await client.geoDist('Sicily', 'Palermo', 'Catania', 'km')), 166.2742);
      await client.pfAdd('visitors', ['a', 'b', 'c', 'a']);
      assert.equal(await client.pfCount('visitors'), 3);
    });

    it('commands of one tick travel together and are answered in order', async (t) => {
      const client = await open(t);
      const replies = await Promise.all(Array.from({ length: 2000 }, (_, i) => client.incrBy('counter', i)));
      assert.deepEqual(replies, Array.from({ length: 2000 }, (_, i) => (i * (i + 1)) / 2));
      const piped = await client.multi().set('a', 1).get('a').incr('a').execAsPipeline();
      assert.deepEqual(piped, ['OK', '1', 2]);
    });

    it('a refused command says why, word for word', async (t) => {
      const client = await open(t);
      await client.set('text', 'x');
      await assert.rejects(client.lPush('text', 'y'), {
        message: 'WRONGTYPE Operation against a key holding the wrong kind of value',
      });
      await assert.rejects(client.incr('text'), { message: 'ERR value is not an integer or out of range' });
      await assert.rejects(client.sendCommand(['SETNX', 'seckill:order:1']), {
        message: "ERR wrong number of arguments for 'setnx' command",
      });
      assert.equal(await client.get('text'), 'x');
    });

    it('a transaction runs as one; a wrong type in it does not undo the rest', async (t) => {
      const client = await open(t);
      assert.deepEqual(await client.multi().set('a', '1').incrBy('a', 41).get('a').exec(), ['OK', 42, '42']);
      const failing = client.multi().set('b', 'text').lPush('b', 'x').set('c', 'done').exec();
      await assert.rejects(failing, (error) => {
        assert.ok(error instanceof MultiErrorReply);
        assert.deepEqual(error.errorIndexes, [1]);
        assert.equal(error.replies[1].message, 'WRONGTYPE Operation against a key holding the wrong kind of value');
        return true;
      });
      assert.equal(await client.get('c'), 'done');
      await assert.rejects(client.multi().addCommand(['SET', 'only-key']).set('d', '1').exec());
      assert.equal(await client.exists('d'), 0);
    });

    it('a watched key that changed makes the transaction void', async (t) => {
      const [client, other] = [await open(t), await open(t)];
      await client.set('stock', '1');
      await client.watch('stock');
      await other.decr('stock');
      await assert.rejects(client.multi().decr('stock').exec(), WatchError);
      assert.equal(await client.get('stock'), '0');
      await client.watch('stock');
      assert.deepEqual(await client.multi().incr('stock').exec(), [1]);
    });

    it('any bytes are keys and values', async (t) => {
      const client = (await open(t)).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
      const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      const large = randomBytes(1_000_000);
      await client.set(every, large);
      assert.deepEqual(await client.get(every), large);
      await client.hSet('hash', every, every);
      assert.deepEqual(await client.hGet('hash', every), every);
      const dump = await client.dump(every);
      await client.restore('copy', 0, dump);
      assert.deepEqual(await client.get('copy'), large);
    });

    it('a blocked command waits for the value, and gives up in time', async (t) => {
      const [client, other] = [await open(t), await open(t)];
      const began = Date.now();
      assert.equal(await client.blPop('task:queue', 0.2), null);
      assert.ok(Date.now() - began >= 200);
      const waiting = client.brPop(['task:queue', 'spare'], 10);
      await eventually(async () => /cmd=brpop/.test(await other.sendCommand(['CLIENT', 'LIST'])));
      await other.lPush('task:queue', 'task1');
      assert.deepEqual(plain(await waiting), { key: 'task:queue', element: 'task1' });
      const popping = client.bzPopMin('ranks', 10);
      await other.zAdd('ranks', { value: 'm', score: 2.5 });
      assert.deepEqual(plain(await popping), { key: 'ranks', value: 'm', score: 2.5 });
      const moving = client.blMove('from', 'to', 'LEFT', 'LEFT', 10);
      await other.rPush('from', 'x');
      assert.equal(await moving, 'x');
    });

    itReadsStreams('a stream is read by two groups, acknowledged, taken over, and trimmed', async (t) => {
      const client = await open(t);
      const from = (id, key = 'stream.orders') => ({ key, id });
      assert.equal(await client.xGroupCreate('stream.orders', 'g1', '0', { MKSTREAM: true }), 'OK');
      await client.xGroupCreate('stream.orders', 'late', '$');
      await assert.rejects(client.xGroupCreate('stream.orders', 'g1', '0'), {
        message: 'BUSYGROUP Consumer Group name already exists',
      });
      const ids = [];
      for (const user of ['1001', '1002', '1003']) ids.push(await client.xAdd('stream.orders', '*', { user, voucher: '7' }));
      const first = await client.xReadGroup('g1', 'c1', from('>'), { COUNT: 2 });
      assert.deepEqual(first[0].messages.map(({ id, message }) => [id, message.user]), [[ids[0], '1001'], [ids[1], '1002']]);
      assert.equal(await client.xAck('stream.orders', 'g1', ids[0]), 1);
      assert.equal(await client.xAck('stream.orders', 'g1', ids[0]), 0);
      const again = await client.xReadGroup('g1', 'c1', from('0'));
      assert.deepEqual(again[0].messages.map(({ id }) => id), [ids[1]]);
      assert.deepEqual(plain(await client.xPending('stream.orders', 'g1')), {
        pending: 1, firstId: ids[1], lastId: ids[1], consumers: [{ name: 'c1', deliveriesCounter: 1 }],
      });
      assert.deepEqual(await client.xClaimJustId('stream.orders', 'g1', 'c2', 3_600_000, ids[1]), []);
      const claimed = await client.xAutoClaim('stream.orders', 'g1', 'c2', 0, '0');
      assert.deepEqual(claimed.messages.map(({ id }) => id), [ids[1]]);
      const [row] = await client.xPendingRange('stream.orders', 'g1', '-', '+', 10);
      assert.deepEqual([row.id, row.consumer, row.deliveriesCounter], [ids[1], 'c2', 3]); // read, read again, taken over
      const late = await client.xReadGroup('late', 'c1', from('>'));
      assert.equal(late[0].messages.length, 3);
      const [group] = await client.xInfoGroups('stream.orders');
      assert.deepEqual([group.name, group.consumers, group.pending, group.lag], ['g1', 2, 1, 1]);
      assert.equal(await client.xTrim('stream.orders', 'MAXLEN', 1), 2);
      assert.deepEqual((await client.xRange('stream.orders', '-', '+')).map(({ id }) => id), [ids[2]]);
    });

    itReadsStreams('reading a stream blocks until something comes', async (t) => {
      const [client, other] = [await open(t), await open(t)];
      assert.equal(await client.xRead({ key: 'events', id: '$' }, { BLOCK: 50 }), null);
      const waiting = client.xRead([{ key: 'events', id: '$' }, { key: 'others', id: '$' }], { BLOCK: 10_000 });
      await eventually(async () => /cmd=xread /.test(await other.sendCommand(['CLIENT', 'LIST'])));
      const id = await other.xAdd('others', '*', { kind: 'x' });
      assert.deepEqual(plain(await waiting), [{ name: 'others', messages: [{ id, message: { kind: 'x' } }] }]);
    });

    it('scripts go by their digest, and whole when the server does not know them', async (t) => {
      const unlock = defineScript({
        NUMBER_OF_KEYS: 1,
        SCRIPT: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
        parseCommand: (parser, key, owner) => { parser.pushKey(key); parser.push(owner); },
        transformReply: (reply) => reply === 1,
      });
      const client = await open(t, { scripts: { unlock } });
      await client.set('lock', 'me');
      await client.configResetStat();
      assert.equal(await client.unlock('lock', 'somebody'), false);
      assert.equal(await client.unlock('lock', 'me'), true);
      const stats = await client.info('commandstats');
      assert.deepEqual([callsIn(stats, 'evalsha'), callsIn(stats, 'eval')], [2, 1]);
      assert.deepEqual(await client.multi().set('lock', 'a').unlock('lock', 'a').exec(), ['OK', true]);
      assert.equal(await client.exists('lock'), 0);
    });

    it('functions are loaded, listed and called', async (t) => {
      const parseCommand = (parser, key) => parser.pushKey(key);
      const functions = { counter: { next: { NUMBER_OF_KEYS: 1, parseCommand, transformReply: undefined } } };
      const client = await open(t, { functions });
      const code = "#!lua name=counter\nredis.register_function('next', function(keys) return redis.call('incr', keys[1]) end)";
      assert.equal(await client.functionLoad(code), 'counter');
      await assert.rejects(client.functionLoad(code), { message: "ERR Library 'counter' already exists" });
      assert.equal(await client.functionLoad(code, { REPLACE: true }), 'counter');
      assert.equal(await client.counter.next('n'), 1);
      assert.equal(await client.fCall('next', { keys: ['n'], arguments: [] }), 2);
      const [listed] = await client.functionList();
      assert.deepEqual([listed.library_name, listed.engine, listed.functions[0].name], ['counter', 'LUA', 'next']);
    });

    it('scanning meets every key, field, member once or more', async (t) => {
      const client = await open(t);
      const numbers = Array.from({ length: 1500 }, (_, i) => String(i));
      await client.mSet(numbers.map((n) => [`cache:${n}`, n]));
      await client.set('other', 'x');
      await client.hSet('hash', Object.fromEntries(numbers.map((n) => [n, n])));
      await client.sAdd('set', numbers);
      await client.zAdd('ranks', numbers.map((n) => ({ value: n, score: Number(n) })));
      const collect = async (iterator) => {
        const met = new Set();
        for await (const batch of iterator) for (const element of batch) met.add(element.value ?? element);
        return met.size;
      };
      assert.equal(await collect(client.scanIterator({ MATCH: 'cache:*', COUNT: 100 })), 1500);
      assert.equal(await collect(client.scanIterator({ TYPE: 'hash' })), 1);
      assert.equal(await collect(client.hScanIterator('hash')), 1500);
      assert.equal(await collect(client.sScanIterator('set')), 1500);
      assert.equal(await collect(client.zScanIterator('ranks')), 1500);
    });

    it('messages reach channel, pattern and shard subscribers, bytes untouched', async (t) => {
      const [listener, sender] = [await open(t), await open(t)];
      const heard = [];
      await listener.subscribe('order.new', (message, channel) => heard.push(['channel', channel, message]));
      await listener.pSubscribe('order.*', (message, channel) => heard.push(['pattern', channel, message]));
      await listener.sSubscribe('order.new', (message, channel) => heard.push(['shard', channel, message]));
      await listener.subscribe('bytes', (message) => heard.push(message), true);
      assert.equal(await sender.publish('order.new', 'New order: #12345'), 2);
      assert.equal(await sender.sPublish('order.new', 'sharded'), 1);
      assert.equal(await sender.publish('bytes', Buffer.from([0, 255, 10])), 1);
      assert.equal(await sender.publish('nobody', 'x'), 0);
      await eventually(() => heard.length === 4);
      assert.deepEqual(heard, [
        ['channel', 'order.new', 'New order: #12345'],
        ['pattern', 'order.new', 'New order: #12345'],
        ['shard', 'order.new', 'sharded'],
        Buffer.from([0, 255, 10]),
      ]);
      assert.deepEqual(plain(await sender.pubSubNumSub(['order.new', 'nobody'])), { 'order.new': 1, nobody: 0 });
      assert.equal(await sender.pubSubNumPat(), 1);
      await listener.unsubscribe(['order.new', 'bytes']);
      await listener.pUnsubscribe('order.*');
      await listener.sUnsubscribe('order.new');
      assert.equal(await listener.get('k'), null);
      assert.equal(await sender.publish('order.new', 'late'), 0);
    });

    it('a pool gives each blocked task a connection of its own', async (t) => {
      const pool = await createClientPool({ url, RESP }, { minimum: 1, maximum: 8 }).connect();
      t.after(() => pool.destroy());
      const blocked = Array.from({ length: 7 }, (_, i) => pool.execute((client) => client.blPop(`queue:${i}`, 10)));
      const other = await open(t);
      await eventually(async () => /blocked_clients:7\r/.test(await other.info('clients')));
      await Promise.all(Array.from({ length: 7 }, (_, i) => pool.rPush(`queue:${i}`, `job ${i}`)));
      const popped = await Promise.all(blocked);
      assert.deepEqual(popped.map(({ element }) => element), Array.from({ length: 7 }, (_, i) => `job ${i}`));
      assert.deepEqual(await pool.multi().set('x', '1').incr('x').exec(), ['OK', 2]);
    });

    it('waits out a crash of the server, then goes on with what it was asked and subscribed to', async (t) => {
      const own = await OwnServer.start(t);
      const socket = { host: '127.0.0.1', port: own.port, reconnectStrategy: () => 20 };
      const client = await connect(t, { RESP, url: undefined, socket, database: 3, name: 'steady' });
      const listener = await connect(t, { RESP, url: undefined, socket });
      const heard = [];
      await listener.subscribe('news', (message) => heard.push(message));
      await own.kill();
      await eventually(() => !client.isReady && !listener.isReady);
      const asked = client.multi().set('asked', 'while away').get('asked').exec();
      await own.run();
      assert.deepEqual(await asked, ['OK', 'while away']);
      assert.equal((await client.clientInfo()).db, 3);
      assert.equal(await client.clientGetName(), 'steady');
      await eventually(() => listener.isReady);
      assert.equal(await client.publish('news', 'back'), 1);
      await eventually(() => heard.length === 1);
    });

    it('a password is asked for, refused and taken', async (t) => {
      const own = await OwnServer.start(t, '--requirepass', 'wyt131551');
      const at = (credentials) => createClient({ RESP, url: `redis://${credentials}127.0.0.1:${own.port}`, socket: { reconnectStrategy: false } })
        .on('error', () => {});
      const refused = at(':wrong@');
      await assert.rejects(refused.connect(), { message: 'WRONGPASS invalid username-password pair or user is disabled.' });
      const open = closeAtEnd(t, await at(':wyt131551@').connect());
      assert.equal(await open.ping(), 'PONG');
      const none = closeAtEnd(t, at(''));
      await assert.rejects(async () => (await none.connect()).get('k'), { message: /^NOAUTH / });
    });
  });
}

test('client-side caching answers without asking, until somebody changes the key', async (t) => {
  const client = await connect(t, { RESP: 3, clientSideCache: { ttl: 0, maxEntries: 100, evictPolicy: 'LRU' } });
  const other = await connect(t, { RESP: 3 });
  const cache = client.options?.clientSideCache;
  await other.set('hot', 'old');
  await other.configResetStat();
  for (let i = 0; i < 20; i++) assert.equal(await client.get('hot'), 'old');
  assert.equal(callsIn(await other.info('commandstats'), 'get'), 1);
  await other.set('hot', 'new');
  await eventually(async () => (await client.get('hot')) === 'new');
  await other.flushAll();
  await eventually(async () => (await client.get('hot')) === null);
  assert.ok(!cache?.stats || cache.stats().hitCount >= 19);
});

test('a monitor sees what the others do', async (t) => {
  const [watcher, client] = [await connect(t, { RESP: 2 }), await connect(t)];
  const lines = [];
  await watcher.monitor((line) => lines.push(String(line)));
  await client.set('qingshan', '26 "73"\n');
  const line = await eventually(() => lines.find((text) => /"SET"/.test(text)));
  assert.match(line, /^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "SET" "qingshan" "26 \\"73\\"\\n"$/);
});

test('the server knows the client by its library', async (t) => {
  const client = await connect(t);
  if (versionOf(await client.info('server')) < 70200) return t.skip('CLIENT SETINFO came with 7.2');
  const { libName, libVer } = await client.clientInfo();
  assert.match(libName, /^node-redis/);
  assert.match(libVer, /^\d+\.\d+\.\d+/);
});

test('a connection closes after its last answers, or at once', async (t) => {
  const client = await connect(t);
  const answers = Promise.all(Array.from({ length: 100 }, () => client.incr('n')));
  await client.close();
  assert.equal((await answers).at(-1), 100);
  await assert.rejects(client.get('n'), { message: 'The client is closed' });
});
