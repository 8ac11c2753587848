// Commands of Redis 8.2 to 8.10 through the methods of node-redis, against a server that emulates 8.10, or a real one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before } from 'node:test';
import { createClient } from 'redis';
import { OwnServer, host, plain, serverProgram, test as limited, versionOf } from '../support.js';

const { stdout, stderr } = spawnSync(serverProgram, ['--help'], { encoding: 'utf8' });
const emulates = (stdout + stderr).includes('--test ');
let server, isNew;
const cleanups = [];

before(async () => {
  server = await OwnServer.start({ after: (cleanup) => cleanups.push(cleanup) }, ...(emulates ? ['--emulate', 'redis:8.10'] : []));
  const client = await createClient({ socket: { host, port: server.port } }).connect();
  isNew = versionOf(await client.info('server')) >= 81_000;
  client.destroy();
});
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

/** A test with RESP2 and with RESP3; skipped if a real server is older than 8.10. */
function test(name, body) {
  for (const RESP of [2, 3]) {
    limited(`${name}, RESP${RESP}`, async (t) => {
      if (!isNew) return t.skip('this server is older than Redis 8.10');
      const client = createClient({ RESP, socket: { host, port: server.port } });
      client.on('error', () => {});
      await client.connect();
      t.after(() => client.destroy());
      await client.flushAll();
      await body(client);
    });
  }
}

test('SET compares before it writes', async (client) => {
  await client.set('key', 'one');
  assert.equal(await client.set('key', 'two', { condition: 'IFEQ', matchValue: 'other' }), null);
  assert.equal(await client.set('key', 'two', { condition: 'IFEQ', matchValue: 'one' }), 'OK');
  assert.equal(await client.set('key', 'three', { condition: 'IFNE', matchValue: 'two' }), null);
  assert.equal(await client.set('key', 'three', { condition: 'IFNE', matchValue: 'one', expiration: { type: 'EX', value: 100 } }), 'OK');
  assert.equal(await client.ttl('key'), 100);
  const digest = await client.digest('key');
  assert.match(digest, /^[0-9a-f]{16}$/);
  assert.equal(await client.set('key', 'four', { condition: 'IFDNE', matchValue: digest }), null);
  assert.equal(await client.set('key', 'four', { condition: 'IFDEQ', matchValue: digest, GET: true }), 'three');
});

test('DELEX compares before it deletes', async (client) => {
  await client.set('key', 'value');
  const digest = await client.digest('key');
  assert.equal(await client.delEx('key', { condition: 'IFEQ', matchValue: 'other' }), 0);
  assert.equal(await client.delEx('key', { condition: 'IFNE', matchValue: 'value' }), 0);
  assert.equal(await client.delEx('key', { condition: 'IFDNE', matchValue: digest }), 0);
  assert.equal(await client.delEx('key', { condition: 'IFDEQ', matchValue: digest }), 1);
  assert.equal(await client.delEx('key'), 0);
});

test('MSETEX sets all keys or none', async (client) => {
  assert.equal(await client.mSetEx({ a: '1', b: '2' }, { expiration: { type: 'EX', value: 100 } }), 1);
  assert.equal(await client.ttl('b'), 100);
  assert.equal(await client.mSetEx({ b: '3', c: '4' }, { mode: 'NX' }), 0);
  assert.deepEqual(await client.mGet(['a', 'b', 'c']), ['1', '2', null]);
  assert.equal(await client.mSetEx({ a: '5', b: '6' }, { mode: 'XX', expiration: { type: 'KEEPTTL' } }), 1);
  assert.equal(await client.ttl('a'), 100);
});

test('INCREX stays in its bounds', async (client) => {
  assert.deepEqual(plain(await client.increx('n')), [1, 1]);
  assert.deepEqual(plain(await client.increx('n', { by: 5, upperBound: 10 })), [6, 5]);
  assert.deepEqual(plain(await client.increx('n', { by: 5, upperBound: 10, saturate: true })), [10, 4]);
  assert.deepEqual(plain(await client.increx('n', { by: 5, upperBound: 10, expiration: { type: 'EX', value: 100 } })), [10, 0]);
  assert.deepEqual(plain(await client.increx('n', { by: -1, lowerBound: 0, expiration: { type: 'EX', value: 100 } })), [9, -1]);
  assert.equal(await client.ttl('n'), 100);
  await client.increx('n', { expiration: { type: 'EX', value: 500, ENX: true } });
  assert.equal(await client.ttl('n'), 100);
});

test('XDELEX and XACKDEL delete entries with their references', async (client) => {
  await client.xGroupCreate('s', 'g', '$', { MKSTREAM: true });
  const ids = [];
  for (let n = 0; n < 4; n++) ids.push(await client.xAdd('s', '*', { n: String(n) }));
  await client.xReadGroup('g', 'c', { key: 's', id: '>' });
  assert.deepEqual(plain(await client.xDelEx('s', [ids[0], '9-9'], 'KEEPREF')), [1, -1]);
  assert.equal((await client.xPending('s', 'g')).pending, 4);
  assert.deepEqual(plain(await client.xDelEx('s', ids[1], 'DELREF')), [1]);
  assert.deepEqual(plain(await client.xDelEx('s', ids[2], 'ACKED')), [2]);
  assert.deepEqual(plain(await client.xAckDel('s', 'g', [ids[2], ids[3]], 'DELREF')), [1, 1]);
  assert.equal(await client.xLen('s'), 0);
  assert.equal((await client.xPending('s', 'g')).pending, 1);
});

test('XADD is idempotent, and trims with references', async (client) => {
  const first = await client.xAdd('s', '*', { n: '1' }, { IDMP: { pid: 'producer', iid: '1' } });
  assert.equal(await client.xAdd('s', '*', { n: '1' }, { IDMP: { pid: 'producer', iid: '1' } }), first);
  const second = await client.xAdd('s', '*', { n: '2' }, { IDMPAUTO: { pid: 'producer' } });
  assert.equal(await client.xAdd('s', '*', { n: '2' }, { IDMPAUTO: { pid: 'producer' } }), second);
  assert.equal(await client.xLen('s'), 2);
  assert.equal(await client.xCfgSet('s', { IDMP_DURATION: 60, IDMP_MAXSIZE: 10 }), 'OK');
  await client.xGroupCreate('s', 'g', '0');
  await client.xReadGroup('g', 'c', { key: 's', id: '>' });
  await client.xAdd('s', '*', { n: '3' }, { TRIM: { strategy: 'MAXLEN', strategyModifier: '=', threshold: 2, policy: 'KEEPREF' } });
  assert.equal((await client.xPending('s', 'g')).pending, 2);
  await client.xAdd('s', '*', { n: '4' }, { TRIM: { strategy: 'MAXLEN', strategyModifier: '=', threshold: 1, policy: 'DELREF' } });
  assert.ok((await client.xPending('s', 'g')).pending < 2);
});

test('XREADGROUP claims idle entries with new ones', async (client) => {
  await client.xGroupCreate('s', 'g', '$', { MKSTREAM: true });
  const first = await client.xAdd('s', '*', { n: '1' });
  await client.xReadGroup('g', 'dies', { key: 's', id: '>' });
  const second = await client.xAdd('s', '*', { n: '2' });
  const [{ messages }] = plain(await client.xReadGroup('g', 'lives', { key: 's', id: '>' }, { CLAIM: 0, COUNT: 10 }));
  assert.deepEqual(messages.map(({ id }) => id), [first, second]);
  assert.equal(messages[0].deliveriesCounter, 1);
  assert.equal(await client.xNack('s', 'g', 'FAIL', [first, second]), 2);
});

test('HOTKEYS finds the key with most traffic', async (client) => {
  assert.equal(await client.hotkeysStart({ METRICS: { count: 2, CPU: true, NET: true }, COUNT: 10 }), 'OK');
  for (let n = 0; n < 50; n++) await client.set('hot', 'x'.repeat(100));
  await client.get('cold');
  await client.hotkeysStop();
  const report = await client.hotkeysGet();
  assert.equal(report.trackingActive, 0);
  assert.equal(report.byNetBytes[0].key, 'hot');
  assert.ok(report.byNetBytes[0].value > 5000);
  assert.equal(await client.hotkeysReset(), 'OK');
  assert.equal(await client.hotkeysGet(), null);
});

test('LMOVEM moves several elements, SUNIONCARD and SDIFFCARD count', async (client) => {
  await client.rPush('from', ['a', 'b', 'c', 'd']);
  assert.deepEqual(plain(await client.lMoveM('from', 'to', 'LEFT', 'RIGHT', { COUNT: 3, ORDER: 'OBO' })), ['a', 'b', 'c']);
  assert.deepEqual(await client.lRange('to', 0, -1), ['a', 'b', 'c']);
  await client.sAdd('s', ['a', 'b', 'c']);
  await client.sAdd('t', ['c', 'd']);
  assert.equal(await client.sUnionCard(['s', 't']), 4);
  assert.equal(await client.sUnionCard(['s', 't'], { LIMIT: 3 }), 3);
  assert.equal(await client.sDiffCard(['s', 't']), 2);
});

test('HIMPORT sets hashes by a list of fields', async (client) => {
  await client.hImportPrepare('people', ['name', 'age']);
  await client.hImportSet('ann', 'people', ['Ann', '30']);
  assert.deepEqual(plain(await client.hGetAll('ann')), { name: 'Ann', age: '30' });
});
