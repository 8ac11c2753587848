// Express sessions in Redis: two instances of an application share a login, which lives as long as it is used.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, beforeEach } from 'node:test';
import { RedisStore } from 'connect-redis';
import express from 'express';
import session from 'express-session';
import { createClient } from 'redis';
import { eventually, test, url } from '../support.js';

const client = await createClient({ url }).connect();
after(() => client.destroy());
beforeEach(() => client.flushAll());

/** Starts an instance of the application. Returns its address. */
async function application(t, storeOptions) {
  const app = express();
  app.use(session({ store: new RedisStore({ client, ...storeOptions }), secret: 'cat', resave: false, saveUninitialized: false }));
  app.post('/code/:phone', async (request, response) => {
    await client.set(`login:code:${request.params.phone}`, '123456', { EX: 120 });
    response.sendStatus(204);
  });
  app.post('/login/:phone/:code', async (request, response) => {
    const { phone, code } = request.params;
    if ((await client.get(`login:code:${phone}`)) !== code) return response.sendStatus(401);
    request.session.user = { id: '1', nickName: '虎哥', phone };
    response.sendStatus(204);
  });
  app.get('/me', (request, response) => (request.session.user ? response.json(request.session.user) : response.sendStatus(401)));
  app.post('/logout', (request, response) => request.session.destroy(() => response.sendStatus(204)));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

async function login(at) {
  await fetch(`${at}/code/13800138000`, { method: 'POST' });
  const answer = await fetch(`${at}/login/13800138000/123456`, { method: 'POST' });
  assert.equal(answer.status, 204);
  return answer.headers.getSetCookie()[0].split(';')[0];
}

const me = (at, cookie) => fetch(`${at}/me`, { headers: { cookie } });

test('a login in one instance is known in the other, until the logout', async (t) => {
  const [here, there] = [await application(t), await application(t)];
  assert.equal((await fetch(`${here}/login/13800138000/000000`, { method: 'POST' })).status, 401);
  const cookie = await login(here);
  assert.deepEqual(await (await me(there, cookie)).json(), { id: '1', nickName: '虎哥', phone: '13800138000' });
  assert.equal((await me(here, 'connect.sid=nobody')).status, 401);
  assert.equal(await client.ttl('login:code:13800138000'), 120);
  await fetch(`${there}/logout`, { method: 'POST', headers: { cookie } });
  assert.equal((await me(here, cookie)).status, 401);
  assert.deepEqual(await client.keys('sess:*'), []);
});

test('every request renews the session; without one it ends', async (t) => {
  const at = await application(t, { ttl: 2 });
  const cookie = await login(at);
  const [key] = await client.keys('sess:*');
  for (let i = 0; i < 2; i++) {
    await eventually(async () => (await client.pTTL(key)) < 1500);
    assert.equal((await me(at, cookie)).status, 200);
    await eventually(async () => (await client.pTTL(key)) > 1500);
  }
  await eventually(async () => (await client.exists(key)) === 0, 4000);
  assert.equal((await me(at, cookie)).status, 401);
});

test('a store counts, lists and clears its sessions, and leaves other keys alone', async (t) => {
  const store = new RedisStore({ client, prefix: 'shop:', scanCount: 10 });
  await client.set('other', 'x');
  const data = (i) => ({ cookie: { originalMaxAge: 60_000 }, n: i });
  for (let i = 0; i < 250; i++) await store.set(`s${i}`, data(i));
  assert.equal(await store.length(), 250);
  assert.equal((await store.ids()).length, 250);
  assert.deepEqual((await store.all()).map(({ n }) => n).sort((a, b) => a - b), Array.from({ length: 250 }, (_, i) => i));
  await store.destroy('s0');
  assert.equal(await store.get('s0'), null);
  await store.clear();
  assert.deepEqual(await client.keys('*'), ['other']);
});
