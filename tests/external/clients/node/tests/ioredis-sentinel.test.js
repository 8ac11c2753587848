// ioredis with `sentinels`: discovery, role slave, transactions, messages, failovers under load.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { control, failoverByHandUnderLoad, fresh, primaryDiesUnderLoad } from '../sentinels.js';
import { eventually, test } from '../support.js';

// The errors of the client while there is no primary, or when its connection to the old one ends.
const isOutage = (error) => /Connection is closed|ECONNREFUSED|ECONNRESET|READONLY|MaxRetries|All sentinels/i.test(`${error.name} ${error.code} ${error.message}`);

async function connect(t, sentinels, options = {}) {
  const client = new Redis({
    sentinels,
    name: 'mymaster',
    failoverDetector: true,
    retryStrategy: () => 50,
    sentinelRetryStrategy: () => 50,
    ...options,
  });
  client.on('error', () => {});
  t.after(() => client.disconnect());
  await once(client, 'ready');
  return client;
}

test('discovery', async (t) => {
  const client = await connect(t, await fresh());
  assert.equal((await client.role())[0], 'master');
  assert.equal(client.stream.remotePort, Number(await control('primary')));
});

test('role slave', async (t) => {
  const sentinels = await fresh();
  const [client, replica] = [await connect(t, sentinels), await connect(t, sentinels, { role: 'slave' })];
  await client.set('key', 'value');
  await control('settle');
  assert.equal(await replica.get('key'), 'value');
  assert.ok((await control('replicas')).split(' ').includes(String(replica.stream.remotePort)));
  await assert.rejects(replica.set('key', 'other'), { message: "READONLY You can't write against a read only replica." });
});

test('transactions', async (t) => {
  const client = await connect(t, await fresh());
  assert.deepEqual(await client.multi().set('a', 1).incr('a').exec(), [[null, 'OK'], [null, 2]]);
});

test('messages', async (t) => {
  const sentinels = await fresh();
  const [client, subscriber] = [await connect(t, sentinels), await connect(t, sentinels)];
  const got = [];
  subscriber.on('message', (channel, message) => got.push(`${channel} ${message}`));
  await subscriber.subscribe('news');
  await client.publish('news', 'hello');
  await eventually(() => got.length === 1 && got[0] === 'news hello');
});

test('a failover by hand under load', async (t) => failoverByHandUnderLoad(await connect(t, await fresh()), isOutage));
// Runs without the detector, which is not needed when the connection ends: under load ioredis 6.0.0 may wait forever
// for its subscription, with redis-server and redis-sentinel as well.
test('a primary dies under load', async (t) =>
  primaryDiesUnderLoad(await connect(t, await fresh(), { failoverDetector: false }), isOutage));
