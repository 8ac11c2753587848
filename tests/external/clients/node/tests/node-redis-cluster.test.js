// node-redis' cluster client: routing, slots that move, failovers, pub/sub, transactions and scripts.
import assert from 'node:assert/strict';
import { createClient, createCluster, defineScript } from 'redis';
import { control, Load, nodes } from '../cluster.js';
import { eventually, test } from '../support.js';

const SWAP = defineScript({
  NUMBER_OF_KEYS: 2,
  SCRIPT: "redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])",
  parseCommand(parser, from, to) {
    parser.pushKeys([from, to]);
  },
  transformReply: (reply) => reply,
});

async function connect(t, options = {}) {
  await control('fresh');
  const cluster = createCluster({
    rootNodes: nodes.map(({ host, port }) => ({ url: `redis://${host}:${port}` })),
    scripts: { swap: SWAP },
    defaults: { socket: { connectTimeout: 2000, reconnectStrategy: () => 50 } },
    ...options,
  });
  cluster.on('error', () => {});
  cluster.on('node-error', () => {});
  await cluster.connect();
  t.after(() => cluster.destroy());
  return cluster;
}

async function single(t, port) {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  client.on('error', () => {});
  await client.connect();
  t.after(() => client.destroy());
  return client;
}

const numbers = (count) => Array.from({ length: count }, (_, number) => number);

for (const RESP of [2, 3]) {
  test(`RESP${RESP}: keys go to their nodes`, async (t) => {
    const cluster = await connect(t, { RESP });
    await Promise.all(numbers(300).map((number) => cluster.set(`key:${number}`, `${number}`)));
    assert.deepEqual(await Promise.all(numbers(300).map((number) => cluster.get(`key:${number}`))), numbers(300).map(String));
    assert.equal(cluster.masters.length, 3);
      const sizes = await Promise.all(cluster.masters.map(async (node) => (await cluster.nodeClient(node)).dbSize()));
    assert.equal(sizes.reduce((sum, size) => sum + size), 300);
    assert.ok(Math.min(...sizes) > 0, String(sizes));
  });

  test(`RESP${RESP}: several keys need one slot`, async (t) => {
    const cluster = await connect(t, { RESP });
    await cluster.mSet({ '{u}a': '1', '{u}b': '2' });
    assert.deepEqual(await cluster.mGet(['{u}a', '{u}b', '{u}c']), ['1', '2', null]);
    await assert.rejects(cluster.sInter(['a', 'b']), { message: "CROSSSLOT Keys in request don't hash to the same slot" });
  });

  test(`RESP${RESP}: transactions with hash tags`, async (t) => {
    const cluster = await connect(t, { RESP });
    assert.deepEqual(await cluster.multi().set('{t}a', '1').incr('{t}a').rPush('{t}l', ['x', 'y']).exec(), ['OK', 2, 2]);
    await assert.rejects(cluster.multi().set('{x}a', '1').set('{y}a', '1').exec(), /EXECABORT|MOVED|CROSSSLOT/);
  });

  test(`RESP${RESP}: scripts with hash tags`, async (t) => {
    const cluster = await connect(t, { RESP });
    for (const tag of ['a', 'b', 'c']) {
      // The new node does not know the script yet.
      await cluster.set(`{${tag}}1`, tag);
      assert.equal(await cluster.swap(`{${tag}}1`, `{${tag}}2`), tag);
    }
    await assert.rejects(cluster.eval("return redis.call('GET', 'b')", { keys: ['a'] }),
      /Script attempted to access a non local key in a cluster node/);
  });

  test(`RESP${RESP}: messages reach every node`, async (t) => {
    const cluster = await connect(t, { RESP });
    const got = [];
    await cluster.subscribe('news', (message) => got.push(message));
    await cluster.pSubscribe('n?ws', (message) => got.push(`pattern ${message}`));
    for (const { port } of nodes) {
      await (await single(t, port)).publish('news', String(port));
      await eventually(() => got.includes(String(port)) && got.includes(`pattern ${port}`));
    }
    assert.equal(got.length, 12);
    await cluster.unsubscribe('news');
    await cluster.pUnsubscribe('n?ws');
  });

  test(`RESP${RESP}: sharded messages follow their slot`, async (t) => {
    const cluster = await connect(t, { RESP });
    const got = [];
    for (const number of numbers(6)) await cluster.sSubscribe(`shard:${number}`, (message, channel) => got.push(`${channel} ${message}`));
    for (const number of numbers(6)) assert.equal(await cluster.sPublish(`shard:${number}`, 'one'), 1);
    await eventually(() => got.length === 6);
    await control('move', 'shard:0', 1);
    // The client subscribes again at the new node after the old one has ended its subscription.
    await eventually(async () => (await cluster.sPublish('shard:0', 'two')) === 1);
    await eventually(() => got.includes('shard:0 two'));
    await cluster.sUnsubscribe('shard:0');
    await eventually(async () => (await cluster.sPublish('shard:0', 'three')) === 0);
  });
}

test('functions', async (t) => {
  const cluster = await connect(t);
  const code = "#!lua name=lib\nredis.register_function('put', function(k, a) return redis.call('SET', k[1], a[1]) end)";
  for (const node of cluster.masters) await (await cluster.nodeClient(node)).functionLoad(code);
  for (const number of numbers(20)) {
    assert.equal(await cluster.sendCommand(`f${number}`, false, ['FCALL', 'put', '1', `f${number}`, `${number}`]), 'OK');
  }
  assert.equal(await cluster.get('f7'), '7');
});

test('replicas answer reads', async (t) => {
  const cluster = await connect(t, { useReplicas: true });
  for (const number of numbers(30)) await cluster.set(`r${number}`, `${number}`);
  await control('settle');
  for (const { port } of nodes) await (await single(t, port)).configResetStat();
  for (const number of numbers(60)) assert.equal(await cluster.get(`r${number % 30}`), `${number % 30}`);
  let atReplicas = 0;
  for (const { port } of nodes) {
    const client = await single(t, port);
    if (/role:slave/.test(await client.info('replication'))) {
      atReplicas += Number(/cmdstat_get:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    }
  }
  assert.ok(atReplicas > 0);
});

test('a slot that moves asks', async (t) => {
  const cluster = await connect(t);
  const keys = numbers(20).map((number) => `{ask}${number}`);
  for (const key of keys) await cluster.set(key, key);
  const source = await single(t, await control('owner', '{ask}'));
  const target = await control('open', '{ask}');
  assert.equal(await control('carry', '{ask}', target, 10), '10');
  for (const key of keys) assert.equal(await cluster.get(key), key);
  await cluster.set('{ask}new', 'at the target');
  assert.equal(await cluster.get('{ask}new'), 'at the target');
  await assert.rejects(source.get('{ask}new'), { message: new RegExp(`^ASK \\d+ 127.0.0.1:${target}$`) });
  await assert.rejects(source.mGet(keys), { message: 'TRYAGAIN Multiple keys request during rehashing of slot' });
  await control('close', '{ask}', target);
  assert.deepEqual(await cluster.mGet(keys), keys);
  await assert.rejects(source.get('{ask}new'), { message: new RegExp(`^MOVED \\d+ 127.0.0.1:${target}$`) });
});

test('slots move and primaries change under load', async (t) => {
  const cluster = await connect(t);
  const load = new Load((key) => cluster.incr(key));
  await load.goesOn();
  for (const key of load.keys.slice(0, 3)) await control('move', key, 20);
  await control('failover', load.keys[0]);
  await load.goesOn();
  await load.stop();
  for (const key of load.keys) assert.equal(Number(await cluster.get(key)), load.counts[key], key);
});

test('a primary dies under load', async (t) => {
  const cluster = await connect(t, { commandsQueueMaxLength: 1000 });
  for (const number of numbers(100)) await cluster.set(`kept:${number}`, `${number}`);
  await control('settle');
  const load = new Load((key) => cluster.incr(key), { isAllowed: () => true });
  await load.goesOn();
  const dead = await control('kill', load.keys[0]);
  assert.notEqual(await control('owner', load.keys[0]), dead);
  await load.goesOn();
  await control('heal');
  await load.goesOn();
  await load.stop();
  for (const number of numbers(100)) assert.equal(await cluster.get(`kept:${number}`), `${number}`);
  assert.match(await (await single(t, dead)).info('replication'), /role:slave/);
});
