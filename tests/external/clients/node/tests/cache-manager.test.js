// cache-manager over Keyv's Redis store: cache-aside with time limits, shared by two instances.
import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import { createKeyv } from '@keyv/redis';
import { createCache } from 'cache-manager';
import { createClient } from 'redis';
import { eventually, test, url } from '../support.js';

const client = await createClient({ url }).connect();
after(() => client.destroy());
beforeEach(() => client.flushAll());

function cache(t, namespace = 'shop') {
  const store = createKeyv(url, { namespace });
  t.after(() => store.disconnect());
  return createCache({ stores: [store] });
}

test('what one instance loaded, the other need not', async (t) => {
  const [here, there] = [cache(t), cache(t)];
  let loads = 0;
  const load = async () => { loads++; return { id: 1, name: '茶餐厅' }; };
  assert.deepEqual(await here.wrap('1', load, 60_000), { id: 1, name: '茶餐厅' });
  assert.deepEqual(await there.wrap('1', load, 60_000), { id: 1, name: '茶餐厅' });
  assert.equal(loads, 1);
  const [key] = await client.keys('*');
  assert.match(key, /^shop:/);
  const left = await client.pTTL(key);
  assert.ok(left > 55_000 && left <= 60_000, `${left} ms`);
});

test('an entry ends in time, or when it is deleted', async (t) => {
  const shop = cache(t);
  await shop.set('short', 'x', 150);
  assert.equal(await shop.get('short'), 'x');
  await eventually(async () => (await shop.get('short')) === undefined, 2000);
  await shop.set('k', '');
  assert.equal(await shop.get('k'), '');
  assert.equal(await shop.del('k'), true);
  assert.equal(await shop.get('k'), undefined);
});

test('many are set, read and deleted at once', async (t) => {
  const shop = cache(t);
  await shop.mset(Array.from({ length: 100 }, (_, i) => ({ key: `k${i}`, value: i, ttl: 60_000 })));
  assert.deepEqual(await shop.mget(['k0', 'k99', 'none']), [0, 99, undefined]);
  await shop.mdel(['k0', 'k1']);
  assert.equal((await client.keys('shop:*')).length, 98);
});

test('clearing one cache leaves the other', async (t) => {
  const [shop, user] = [cache(t, 'shop'), cache(t, 'user')];
  await Promise.all(Array.from({ length: 300 }, (_, i) => shop.set(`k${i}`, i)));
  await user.set('k', 1);
  await shop.clear();
  assert.equal(await shop.get('k7'), undefined);
  assert.equal(await user.get('k'), 1);
});
