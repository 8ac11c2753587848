// The Lua scripts of applications and lock libraries, through ioredis: what each owner, and each client that is not the
// owner, is told.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach } from 'node:test';
import { Redis } from 'ioredis';
import { eventually, host, port, test } from '../support.js';

const lua = (name) => readFileSync(new URL(`../scripts/${name}.lua`, import.meta.url), 'utf8');
/** Removes the comments of another language, with which a script does not compile. */
const withoutLinesOf = (comment, script) => script.split('\n').filter((line) => !line.trimStart().startsWith(comment)).join('\n');
const sha1 = (text) => createHash('sha1').update(text).digest('hex');
const me = 'b60a9c8c-92f8-4bfe-b0e7-308967346336:1';
const other = 'b60a9c8c-92f8-4bfe-b0e7-308967346336:2';

let redis;
before(() => { redis = new Redis({ host, port }); });
after(() => redis.disconnect());
beforeEach(async () => {
  await redis.flushall();
  await redis.script('FLUSH');
});

/** Sends a script as frameworks do: by its digest, or in full if the server does not know it. */
async function run(script, keys = [], ...words) {
  try {
    return await redis.evalsha(sha1(script), keys.length, ...keys, ...words);
  } catch (error) {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(script, keys.length, ...keys, ...words);
  }
}

const refusal = (...words) => run(...words).then((reply) => `no refusal but ${reply}`, (error) => error.message);
const atLine = (line, script) => `script: ${sha1(script)}, on @user_script:${line}.`;

for (const name of ['acquire_hset', 'acquire_hincrby', 'acquire_or']) {
  const script = lua(name);
  test(`a re-entrant lock is acquired (${name})`, async () => {
    assert.equal(await run(script, ['updateAccount'], 30000, me), null);
    assert.deepEqual(await redis.hgetall('updateAccount'), { [me]: '1' });
    assert.equal(await run(script, ['updateAccount'], 30000, me), null);
    assert.deepEqual(await redis.hgetall('updateAccount'), { [me]: '2' });
    const remaining = await run(script, ['updateAccount'], 30000, other);
    assert.ok(remaining > 25000 && remaining <= 30000, `${remaining} ms`);
    await redis.pexpire('updateAccount', 1);
    await eventually(async () => (await run(script, ['updateAccount'], 30000, other)) === null);
  });
}

test('a re-entrant lock that explains itself in comments takes its words in another order', async () => {
  const script = lua('acquire_explained');
  assert.deepEqual([await run(script, ['lock'], me, 30000), await run(script, ['lock'], me, 30000)], [1, 1]);
  assert.equal(await run(script, ['lock'], other, 30000), 0);
  assert.equal(await redis.ttl('lock'), 30000);
});

test('a watchdog renews the lock of its owner only', async () => {
  const script = lua('renew');
  await redis.hset('lock', me, 1);
  await redis.pexpire('lock', 10_000);
  assert.deepEqual([await run(script, ['lock'], 30000, me), await run(script, ['lock'], 30000, other)], [1, 0]);
  assert.equal(await redis.ttl('lock'), 30);
});

const channel = 'redisson_lock__channel:{updateAccount}';

/** Subscribes to a channel until the test ends. */
async function listen(t) {
  const listener = new Redis({ host, port });
  t.after(() => listener.disconnect());
  const heard = [];
  listener.on('message', (_, message) => heard.push(message));
  await listener.subscribe(channel);
  return heard;
}

test('an unlock that also tells the waiters of a lock long gone', async (t) => {
  const script = withoutLinesOf('//', lua('release_with_slash_comments'));
  const heard = await listen(t);
  const unlock = (owner) => run(script, ['updateAccount', channel], 0, 10000, owner);
  assert.equal(await unlock(me), 1);
  await redis.hset('updateAccount', me, 2);
  assert.deepEqual([await unlock(other), await unlock(me), await unlock(me)], [null, 0, 1]);
  await eventually(() => heard.length === 2);
  assert.deepEqual(heard, ['0', '0']);
});

test('an unlock counts down, releases at zero and tells the waiters', async (t) => {
  const script = lua('release_assembled');
  const heard = await listen(t);
  const unlock = (owner) => run(script, ['updateAccount', channel], 0, 30000, owner);
  await redis.hset('updateAccount', me, 2);
  assert.deepEqual([await unlock(other), await unlock(me), await unlock(me), await unlock(me)], [null, 0, 1, null]);
  await eventually(() => heard.length === 1);
});

test('an unlock with a latch answers the same request twice alike', async (t) => {
  const script = lua('release_with_latch');
  const heard = await listen(t);
  const latch = (request) => `redisson_unlock_latch:{updateAccount}:${request}`;
  const unlock = (owner, request) => run(script, ['updateAccount', channel, latch(request)], 0, 30000, owner, 'PUBLISH', 13500);
  await redis.hset('updateAccount', me, 2);
  assert.equal(await unlock(other, 'r0'), null);
  assert.deepEqual([await unlock(me, 'r1'), await unlock(me, 'r1'), await unlock(me, 'r2')], [0, 0, 1]);
  assert.deepEqual([await redis.get(latch('r1')), await redis.get(latch('r2')), await redis.exists('updateAccount')], ['0', '1', 0]);
  assert.ok((await redis.pttl(latch('r2'))) > 10_000);
  await eventually(() => heard.length === 1);
});

test('compare and delete leaves the lock of another alone', async () => {
  for (const script of ['compare_and_delete', 'compare_and_delete_commented', 'compare_and_delete_upper_case'].map(lua)) {
    assert.equal(await redis.set('lock:order', me, 'EX', 30, 'NX'), 'OK');
    assert.equal(await redis.set('lock:order', other, 'EX', 30, 'NX'), null);
    assert.deepEqual([await run(script, ['lock:order'], other), await run(script, ['lock:order'], me)], [0, 1]);
    assert.equal(await run(script, ['lock:order'], me), 0);
  }
});

test('compare and expire renews for the owner only', async () => {
  for (const script of ['compare_and_expire', 'compare_and_expire_upper_case'].map(lua)) {
    await redis.set('lock', me, 'PX', 1000);
    assert.deepEqual([await run(script, ['lock'], other, 30000), await run(script, ['lock'], me, 30000)], [0, 1]);
    assert.equal(await redis.ttl('lock'), 30);
  }
});

const reserve = lua('seckill_fragment');
test('a reservation goes through once for each user, while stock lasts', async () => {
  const script = `local stock_key = KEYS[1] local order_key = KEYS[2] local user_id = ARGV[1]\n${reserve}`;
  await redis.set('stock:product_001', 2);
  const order = (user) => run(script, ['stock:product_001', 'orders'], user);
  assert.deepEqual([await order('1'), await order('1'), await order('2'), await order('3')], [1, 0, 1, 0]);
  assert.equal(await redis.get('stock:product_001'), '0');
});

const saleWithoutVariables = lua('seckill_with_stream');
const sale = `local voucherId = ARGV[1] local userId = ARGV[2] local orderId = ARGV[3]\n${saleWithoutVariables}`;

test('a flash sale without keys writes its orders to a stream', async () => {
  const missing = await refusal(sale, [], '7', '1001', '1');
  assert.match(missing, /^ERR user_script:7: attempt to compare nil with number script: [0-9a-f]{40}, on @user_script:7\.$/);
  await redis.set('seckill:stock:7', 1);
  assert.equal(await run(sale, [], '7', '1001', '1'), 0);
  assert.equal(await run(sale, [], '7', '1001', '1'), 1); // the script checks the stock first
  await redis.set('seckill:stock:7', 1);
  assert.equal(await run(sale, [], '7', '1001', '1'), 2);
  const [[, fields]] = await redis.xrange('stream.orders', '-', '+');
  assert.deepEqual(fields, ['userId', '1001', 'voucherId', '7']);
});

test('1 000 users, two requests each, 100 vouchers: exactly 100 orders, each handled once', async (t) => {
  await redis.set('seckill:stock:1', 100);
  await redis.xgroup('CREATE', 'stream.orders', 'g1', '0', 'MKSTREAM');
  const connections = Array.from({ length: 10 }, () => new Redis({ host, port, scripts: { seckill: { lua: lua('seckill'), numberOfKeys: 0 } } }));
  t.after(() => connections.forEach((connection) => connection.disconnect()));
  const answers = await Promise.all(Array.from({ length: 2000 }, (_, i) => connections[i % 10].seckill('1', `user ${i % 1000}`, `order ${i}`)));
  const count = (answer) => answers.filter((given) => given === answer).length;
  assert.equal(count(0), 100);
  assert.equal(count(0) + count(1) + count(2), 2000);
  assert.deepEqual([await redis.get('seckill:stock:1'), await redis.scard('seckill:order:1'), await redis.xlen('stream.orders')], ['0', 100, 100]);
  const handled = [];
  const consume = async (connection, name) => {
    for (;;) {
      const read = await connection.xreadgroup('GROUP', 'g1', name, 'COUNT', 1, 'BLOCK', 50, 'STREAMS', 'stream.orders', '>');
      if (!read) return;
      const [[id, fields]] = read[0][1];
      handled.push(fields[5]);
      assert.equal(await connection.xack('stream.orders', 'g1', id), 1);
    }
  };
  await Promise.all(['c1', 'c2', 'c3'].map((name, i) => consume(connections[i], name)));
  assert.equal(new Set(handled).size, 100);
  assert.equal(handled.length, 100);
  assert.equal((await redis.xpending('stream.orders', 'g1'))[0], 0);
});

test('first scripts: words passed in, replies passed out', async () => {
  assert.equal(await run(lua('set_parameters'), ['k'], 'v'), null);
  assert.equal(await run(lua('get'), ['k']), 'v');
  assert.equal(await run(lua('get'), ['absent']), null);
  assert.equal(await run(lua('set_name')), null);
  assert.equal(await run(withoutLinesOf('#', lua('get_name_with_hash_comment'))), 'jack');
  assert.equal(await run("return redis.call('set', 'name', 'jack')"), 'OK');
  assert.equal(await run("return redis.call('set', KEYS[1], ARGV[1])", ['name'], 'jack'), 'OK');
  const json = await run(lua('json'));
  assert.deepEqual(JSON.parse(json), { name: 'Alice', age: 30 });
  assert.match(json, /"age":30[,}]/);
});

test('a script is known by its digest until SCRIPT FLUSH, FLUSHALL or not', async () => {
  assert.equal(await redis.script('LOAD', 'return 1'), 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db');
  await redis.flushall();
  assert.deepEqual(await redis.script('EXISTS', sha1('return 1'), sha1('return 2')), [1, 0]);
  assert.equal(await redis.evalsha(sha1('return 1').toUpperCase(), 0), 1);
  await redis.script('FLUSH');
  await assert.rejects(redis.evalsha(sha1('return 1'), 0), { message: 'NOSCRIPT No matching script. Please use EVAL.' });
});

test('what is not a comment in Lua does not compile', async () => {
  // The error of Lua 5.1 names '/', the error of later versions '//'.
  for (const name of ['acquire_with_slash_comments', 'release_with_slash_comments']) {
    assert.match(await refusal(lua(name), ['k']), /^ERR Error compiling script \(new function\): user_script:1: unexpected symbol near '\/\/?'/);
  }
  assert.match(await refusal(lua('get_name_with_hash_comment')), /^ERR Error compiling script \(new function\): user_script:2: unexpected symbol near '#'/);
});

test('a variable nobody made is refused by name, and the line told', async () => {
  for (const [script, name] of [[reserve, 'stock_key'], [saleWithoutVariables, 'voucherId']]) {
    assert.equal(await refusal(script), `ERR user_script:2: Script attempted to access nonexistent global variable '${name}' ${atLine(2, script)}`);
  }
});

test('a command that is none is refused inside a script', async () => {
  for (const script of [lua('template'), "redis.call('', 'x')"]) {
    assert.equal(await refusal(script), `ERR Unknown Redis command called from script ${atLine(1, script)}`);
  }
  const blocking = "return redis.call('subscribe', 'x')";
  assert.equal(await refusal(blocking), `ERR This Redis command is not allowed from script ${atLine(1, blocking)}`);
});

const wrong = [
  [['XGROUP', 'DESTORY', 'stream.orders', 'g1'], "ERR unknown subcommand 'DESTORY'. Try XGROUP HELP."],
  [['SETNX', 'seckill:order:商品ID'], "ERR wrong number of arguments for 'setnx' command"],
  [['XADD', 'order:{user_id%10}', '*'], "ERR wrong number of arguments for 'xadd' command"],
  [['XGROUP', 'CREATE', 'orders:group1', '$', 'MKSTREAM'],
    'ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.'],
  [['XREADGROUP', 'GROUP', 'group1', 'consumer1', 'BLOCK', '0', 'STREAMS', 'orders:queue', '>'],
    "NOGROUP No such key 'orders:queue' or consumer group 'group1' in XREADGROUP with GROUP option"],
  [['CONFIG', 'SET', 'max-memery', '1gb'], "ERR Unknown option or number of arguments for CONFIG SET - 'max-memery'"],
];
for (const [words, text] of wrong) {
  test(`${words.join(' ')} is refused word for word`, async () => {
    await assert.rejects(redis.call(...words), { message: text });
  });
}

test('XGROUP CREATE on a stream that exists wants an ID there', async () => {
  await redis.xadd('orders:group1', '*', 'a', 'b');
  await assert.rejects(redis.call('XGROUP', 'CREATE', 'orders:group1', '$', 'MKSTREAM'), {
    message: 'ERR Invalid stream ID specified as stream command argument',
  });
});

test('an order set that became a text refuses members', async () => {
  await redis.call('SETNX', 'seckill:order:1', '创建订单集合');
  for (const command of [['SISMEMBER', 'seckill:order:1', 'u'], ['SADD', 'seckill:order:1', 'u']]) {
    await assert.rejects(redis.call(...command), { message: 'WRONGTYPE Operation against a key holding the wrong kind of value' });
  }
});

test('acknowledging another stream leaves the message pending', async () => {
  await redis.xgroup('CREATE', 'stream.orders', 'g1', '0', 'MKSTREAM');
  const id = await redis.xadd('stream.orders', '*', 'userId', '1');
  await redis.xreadgroup('GROUP', 'g1', 'c1', 'COUNT', 1, 'STREAMS', 'stream.orders', '>');
  assert.equal(await redis.xack('s1', 'g1', id), 0);
  for (let i = 0; i < 2; i++) {
    const [[, [[again]]]] = await redis.xreadgroup('GROUP', 'g1', 'c1', 'COUNT', 1, 'STREAMS', 'stream.orders', '0');
    assert.equal(again, id);
  }
});
