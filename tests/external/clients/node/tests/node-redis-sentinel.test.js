// node-redis' createSentinel: discovery, reads from replicas, transactions, messages, failovers under load.
import assert from 'node:assert/strict';
import { createClient, createSentinel, WatchError } from 'redis';
import { control, failoverByHandUnderLoad, fresh, primaryDiesUnderLoad } from '../sentinels.js';
import { callsIn, eventually, test } from '../support.js';

// The errors of the client while there is no primary, or when its connection to the old one ends.
const isOutage = (error) => /closed|ECONNREFUSED|ECONNRESET|READONLY|Disconnects|no valid master/i.test(`${error.name} ${error.code} ${error.message}`);

/**
 * Commands that begin together take several connections of the pool and return only one: with two connections and
 * without `reserveClient`, the third of five INCR never ends, with any server (node-redis 6.3, `??= await` in
 * _execute). With a reserved connection all commands share that one; the other is for use().
 */
async function connect(t, options = {}) {
  const sentinel = createSentinel({
    name: 'mymaster',
    sentinelRootNodes: await fresh(),
    masterPoolSize: 2,
    reserveClient: true,
    scanInterval: 1000,
    ...options,
  });
  sentinel.on('error', () => {});
  await sentinel.connect();
  t.after(() => sentinel.destroy());
  return sentinel;
}

const replicaPorts = async () => (await control('replicas')).split(' ').map(Number).sort();

/** Sends a command to a server of the set directly. */
async function ask(port, question) {
  const client = await createClient({ socket: { host: '127.0.0.1', port } }).connect();
  try {
    return await question(client);
  } finally {
    client.destroy();
  }
}

test('discovery', async (t) => {
  const sentinel = await connect(t, { replicaPoolSize: 1 });
  const primary = Number(await control('primary'));
  assert.deepEqual(sentinel.getMasterNode(), { host: '127.0.0.1', port: primary });
  assert.deepEqual([...sentinel.getReplicaNodes().keys()].map((node) => node.port).sort(), await replicaPorts());
});

test('reads of replicas', async (t) => {
  const sentinel = await connect(t, { replicaPoolSize: 1 });
  await sentinel.set('key', 'value');
  await control('settle');
  const ports = [Number(await control('primary')), ...await replicaPorts()];
  for (const port of ports) await ask(port, (client) => client.configResetStat());
  for (let number = 0; number < 4; number += 1) assert.equal(await sentinel.get('key'), 'value');
  const calls = [];
  for (const port of ports) calls.push(callsIn(await ask(port, (client) => client.info('commandstats')), 'get'));
  assert.deepEqual(calls, [0, 2, 2]);
});

test('transactions', async (t) => {
  const sentinel = await connect(t);
  assert.deepEqual(await sentinel.multi().set('a', '1').incr('a').exec(), ['OK', 2]);
  await sentinel.use(async (client) => {
    await client.watch('a');
    await sentinel.set('a', '9');
    await assert.rejects(client.multi().set('a', '10').exec(), WatchError);
  });
  assert.equal(await control('get', 'a'), '9');
});

test('messages', async (t) => {
  const sentinel = await connect(t);
  const got = [];
  await sentinel.subscribe('news', (message) => got.push(message));
  await sentinel.publish('news', 'hello');
  await eventually(() => got.length === 1 && got[0] === 'hello');
});

test.onlyAll('a subscription outlives its primary', async (t) => {
  const sentinel = await connect(t);
  const got = [];
  await sentinel.subscribe('news', (message) => got.push(message));
  const dead = await control('kill');
  await eventually(async () => (await sentinel.publish('news', 'hello')) === 1, 20_000);
  await eventually(() => got.includes('hello'));
  assert.notEqual(await control('primary'), dead);
});

test.onlyAll('a failover by hand under load', async (t) => failoverByHandUnderLoad(await connect(t), isOutage));
test('a primary dies under load', async (t) => primaryDiesUnderLoad(await connect(t), isOutage));
