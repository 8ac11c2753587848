// Socket.IO with two servers that are connected only through Redis: by pub/sub, sharded pub/sub, or a stream.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeEach } from 'node:test';
import { createAdapter as createPubSubAdapter, createShardedAdapter } from '@socket.io/redis-adapter';
import { createAdapter as createStreamsAdapter } from '@socket.io/redis-streams-adapter';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { eventually, host, port, test, url } from '../support.js';

const drivers = {
  ioredis: async () => {
    const client = new Redis({ host, port }).on('error', () => {});
    return { client, close: () => client.quit() };
  },
  'node-redis': async () => {
    const client = await createClient({ url }).on('error', () => {}).connect();
    return { client, close: () => client.close() };
  },
};

const adapters = {
  'Redis adapter': async (open) => createPubSubAdapter(await open(), await open(), { requestsTimeout: 3000 }),
  'sharded adapter': async (open) => createShardedAdapter(await open(), await open()),
  'streams adapter': async (open) => createStreamsAdapter(await open(), { blockTimeInMs: 200, heartbeatInterval: 500 }),
};

/** Two servers and a client of each; all closed in turn when the test ends. */
async function world(t, adapter, driver, options = {}) {
  const servers = [], clients = [], sockets = [], connections = [];
  t.after(async () => {
    clients.forEach((client) => client.disconnect());
    await Promise.all(servers.map((server) => server.close()));
    await Promise.all(connections.map(({ close }) => close()));
  });
  const open = async () => {
    connections.push(await drivers[driver]());
    return connections.at(-1).client;
  };
  for (let i = 0; i < 2; i++) {
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    const server = new Server(http, { ...options, adapter: await adapters[adapter](open) });
    servers.push(server);
    const arrived = once(server, 'connection');
    const client = io(`http://127.0.0.1:${http.address().port}`, { transports: ['websocket'], reconnectionDelay: 50, reconnectionDelayMax: 50 });
    clients.push(client);
    sockets.push((await arrived)[0]);
    await eventually(() => client.connected);
  }
  for (const server of servers) await eventually(async () => (await server.of('/').adapter.serverCount()) === 2);
  await eventually(async () => (await servers[0].timeout(1000).fetchSockets()).length === 2);
  return { servers, clients, sockets };
}

beforeEach(async () => {
  const admin = new Redis({ host, port });
  await admin.flushall();
  admin.disconnect();
});

for (const adapter of Object.keys(adapters)) {
  for (const driver of Object.keys(drivers)) {
    const it = (name, body) => test(`${adapter} over ${driver}: ${name}`, body);

    it('a broadcast reaches the clients of every server, bytes untouched', async (t) => {
      const { servers, clients } = await world(t, adapter, driver);
      const heard = clients.map((client) => once(client, 'news'));
      servers[0].emit('news', { text: '虎哥' }, Buffer.from([0, 255, 10]));
      for (const words of await Promise.all(heard)) assert.deepEqual(words, [{ text: '虎哥' }, Buffer.from([0, 255, 10])]);
    });

    it('a room is joined, told, and left across servers', async (t) => {
      const { servers, clients, sockets } = await world(t, adapter, driver);
      const heard = [[], []];
      clients.forEach((client, i) => client.onAny((...words) => heard[i].push(words)));
      sockets[1].join('orders');
      await eventually(async () => (await servers[0].in('orders').fetchSockets()).length === 1);
      // The message for all comes last, so a message that has not arrived before it never will.
      servers[0].to('orders').emit('order', 12345);
      servers[0].emit('all');
      await eventually(() => heard[0].length && heard[1].length === 2);
      assert.deepEqual(heard, [[['all']], [['order', 12345], ['all']]]);
      servers[0].in(sockets[1].id).socketsLeave('orders');
      await eventually(() => !sockets[1].rooms.has('orders'));
      const gone = once(clients[1], 'disconnect');
      servers[0].in(sockets[1].id).disconnectSockets(true);
      await gone;
    });

    it('servers talk to each other, and clients acknowledge across them', async (t) => {
      const { servers, clients } = await world(t, adapter, driver);
      servers[1].on('question', (word, answer) => answer(`${word}, answered`));
      assert.deepEqual(await servers[0].serverSideEmitWithAck('question', 'hello'), ['hello, answered']);
      clients.forEach((client, i) => client.on('who', (answer) => answer(i)));
      assert.deepEqual((await servers[0].timeout(3000).emitWithAck('who')).sort(), [0, 1]);
    });
  }
}

test('streams adapter over ioredis: a client that was away is given what it missed', async (t) => {
  const { servers, clients } = await world(t, 'streams adapter', 'ioredis', { connectionStateRecovery: {} });
  const heard = [];
  clients[1].on('news', (n) => heard.push(n));
  servers[0].emit('news', 1);
  await eventually(() => heard.length === 1);
  const gone = once(clients[1], 'disconnect');
  clients[1].io.engine.close();
  await gone;
  servers[0].emit('news', 2);
  await eventually(() => heard.length === 2);
  assert.deepEqual(heard, [1, 2]);
  assert.equal(clients[1].recovered, true);
});
