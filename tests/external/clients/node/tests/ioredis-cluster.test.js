// ioredis' Cluster: routing, slots that move, failovers, pub/sub, transactions and scripts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import { control, Load, nodes } from '../cluster.js';
import { eventually, test } from '../support.js';

async function connect(t, options = {}) {
  await control('fresh');
  const cluster = new Cluster(nodes, { clusterRetryStrategy: () => 50, retryDelayOnClusterDown: 50, retryDelayOnTryAgain: 20, slotsRefreshInterval: 500, ...options });
  cluster.on('error', () => {});
  t.after(() => cluster.disconnect());
  await once(cluster, 'ready');
  return cluster;
}

function single(t, port) {
  const client = new Redis(Number(port));
  client.on('error', () => {});
  t.after(() => client.disconnect());
  return client;
}

const numbers = (count) => Array.from({ length: count }, (_, number) => number);

test('keys go to their nodes', async (t) => {
  const cluster = await connect(t);
  await Promise.all(numbers(300).map((number) => cluster.set(`key:${number}`, number)));
  assert.deepEqual(await Promise.all(numbers(300).map((number) => cluster.get(`key:${number}`))), numbers(300).map(String));
  await eventually(() => cluster.nodes('master').length === 3 && cluster.nodes('slave').length === 3);
  const sizes = await Promise.all(cluster.nodes('master').map((node) => node.dbsize()));
  assert.equal(sizes.reduce((sum, size) => sum + size), 300);
  assert.ok(Math.min(...sizes) > 0, String(sizes));
});

test('several keys need one slot', async (t) => {
  const cluster = await connect(t);
  assert.equal(await cluster.mset('{u}a', 1, '{u}b', 2), 'OK');
  assert.deepEqual(await cluster.mget('{u}a', '{u}b', '{u}c'), ['1', '2', null]);
  await assert.rejects(cluster.mget('a', 'b'), { message: "CROSSSLOT Keys in request don't hash to the same slot" });
  assert.deepEqual(await cluster.pipeline().set('{p}a', 1).incr('{p}a').get('{p}b').exec(), [[null, 'OK'], [null, 2], [null, null]]);
});

test('automatic pipelines over all nodes', async (t) => {
  const cluster = await connect(t, { enableAutoPipelining: true });
  await Promise.all(numbers(200).map((number) => cluster.set(`auto:${number}`, number)));
  assert.deepEqual(await Promise.all(numbers(200).map((number) => cluster.incr(`auto:${number}`))), numbers(200).map((number) => number + 1));
});

test('transactions with hash tags', async (t) => {
  const cluster = await connect(t);
  assert.deepEqual(await cluster.multi().set('{t}a', 1).incr('{t}a').rpush('{t}l', 'x', 'y').exec(), [[null, 'OK'], [null, 2], [null, 2]]);
});

test('scripts with hash tags', async (t) => {
  const cluster = await connect(t);
  cluster.defineCommand('swap', {
    numberOfKeys: 2,
    lua: "redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])",
  });
  for (const tag of ['a', 'b', 'c']) {
    await cluster.set(`{${tag}}1`, tag);
    assert.equal(await cluster.swap(`{${tag}}1`, `{${tag}}2`), tag);
  }
  await assert.rejects(cluster.eval("return redis.call('GET', 'b')", 1, 'a'), /Script attempted to access a non local key in a cluster node/);
});

test('messages reach every node', async (t) => {
  const cluster = await connect(t);
  const got = [];
  cluster.on('message', (channel, message) => got.push(message));
  cluster.on('pmessage', (pattern, channel, message) => got.push(`pattern ${message}`));
  await cluster.subscribe('news');
  await cluster.psubscribe('n?ws');
  for (const { port } of nodes) {
    await single(t, port).publish('news', String(port));
    await eventually(() => got.includes(String(port)) && got.includes(`pattern ${port}`));
  }
  assert.equal(got.length, 12);
});

test('sharded messages follow their slot', async (t) => {
  const cluster = await connect(t, { shardedSubscribers: true });
  const got = [];
  cluster.on('smessage', (channel, message) => got.push(`${channel} ${message}`));
  for (const number of numbers(6)) await cluster.ssubscribe(`shard:${number}`);
  for (const number of numbers(6)) await eventually(async () => (await cluster.spublish(`shard:${number}`, 'one')) === 1);
  await eventually(() => got.length >= 6);
  await control('move', 'shard:0', 1);
  await eventually(async () => (await cluster.spublish('shard:0', 'two')) === 1, 20_000);
  await eventually(() => got.includes('shard:0 two'));
});

test('replicas answer reads', async (t) => {
  const cluster = await connect(t, { scaleReads: 'slave' });
  await eventually(() => cluster.nodes('slave').length === 3);
  for (const number of numbers(30)) await cluster.set(`r${number}`, number);
  await control('settle');
  for (const { port } of nodes) await single(t, port).config('RESETSTAT');
  for (const number of numbers(30)) assert.equal(await cluster.get(`r${number}`), `${number}`);
  let atReplicas = 0;
  for (const { port } of nodes) {
    const client = single(t, port);
    if (/role:slave/.test(await client.info('replication'))) {
      atReplicas += Number(/cmdstat_get:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    }
  }
  assert.equal(atReplicas, 30);
});

test('a slot that moves asks', async (t) => {
  const cluster = await connect(t);
  const keys = numbers(20).map((number) => `{ask}${number}`);
  for (const key of keys) await cluster.set(key, key);
  const target = await control('open', '{ask}');
  assert.equal(await control('carry', '{ask}', target, 10), '10');
  for (const key of keys) assert.equal(await cluster.get(key), key);
  await cluster.set('{ask}new', 'at the target');
  assert.equal(await cluster.get('{ask}new'), 'at the target');
  // The client retries after TRYAGAIN until the slot has moved.
  const all = cluster.mget(keys);
  await control('close', '{ask}', target);
  assert.deepEqual(await all, keys);
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
  const cluster = await connect(t);
  for (const number of numbers(100)) await cluster.set(`kept:${number}`, number);
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
  assert.match(await single(t, dead).info('replication'), /role:slave/);
});
