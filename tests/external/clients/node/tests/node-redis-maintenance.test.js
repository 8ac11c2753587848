// Announcements of maintenance, which TEST PUSH sends and node-redis obeys: longer timeouts, and another server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, createCluster } from 'redis';
import { OwnServer, eventually, host, serverProgram, test as limited } from '../support.js';

// A Redis has no test commands.
const { stdout, stderr } = spawnSync(serverProgram, ['--help'], { encoding: 'utf8' });
const test = (stdout + stderr).includes('--test ') ? limited : limited.skip;

const shortMs = 200; // the timeout of the clients
const slowMs = 600; // how long the server delays GET slow

async function startServer(t, ...words) {
  const server = await OwnServer.start(t, '--test-commands', 'local', ...words);
  server.admin = createClient({ socket: { host, port: server.port }, RESP: 2 });
  server.admin.on('error', () => {});
  await server.admin.connect();
  t.after(() => server.admin.destroy());
  await server.admin.sendCommand(['TEST', 'FAULT', 'ADD', 'slow', 'WHEN', 'KEY', 'slow', 'DO', 'DELAY', String(slowMs)]);
  return server;
}
const startAnnouncing = (t) => startServer(t, '--test-maint-notifications', 'yes');

async function connect(t, server, options = {}) {
  const client = createClient({
    RESP: 3, name: 'app', maintNotifications: 'enabled', maintRelaxedSocketTimeout: 10_000,
    socket: { host, port: server.port, socketTimeout: shortMs, reconnectStrategy: false }, ...options,
  });
  client.on('error', () => {});
  t.after(() => client.isOpen && client.destroy());
  await client.connect();
  return client;
}

async function push(server, ...words) {
  assert.equal(await server.admin.sendCommand(['TEST', 'PUSH', 'app', 'SUBSCRIBED', ...words.map(String)]), 1);
}

test('a server without the directive refuses as Redis does', async (t) => {
  const server = await startServer(t);
  await assert.rejects(connect(t, server), /unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP./);
  assert.equal(await (await connect(t, server, { maintNotifications: 'auto' })).ping(), 'PONG');
  await server.admin.configSet('test-maint-notifications', 'yes'); // for connections from now on
  assert.equal(await (await connect(t, server)).ping(), 'PONG');
});

for (const maintEndpointType of ['internal-ip', 'internal-fqdn', 'external-ip', 'external-fqdn', 'none', 'auto']) {
  test(`the endpoint type ${maintEndpointType} is accepted`, async (t) => {
    const server = await startAnnouncing(t);
    await connect(t, server, { maintEndpointType });
    await push(server, 'MIGRATING', 1, 10, '[1]');
  });
}

for (const [begin, end] of [
  [['MIGRATING', 1, 10, '[1]'], ['MIGRATED', 2, '[1]']],
  [['FAILING_OVER', 3, 10, '[1]'], ['FAILED_OVER', 4, '[1]']],
  [['SMIGRATING', 5, '0-99'], ['SMIGRATED', 6, 'a:1', 'b:2', '0-99']],
]) {
  test(`timeouts are longer between ${begin[0]} and ${end[0]}`, async (t) => {
    const server = await startAnnouncing(t);
    await assert.rejects((await connect(t, server)).get('slow'), /Socket timeout/i);
    const client = await connect(t, server);
    await push(server, ...begin);
    await client.ping();
    assert.equal(await client.get('slow'), null);
    await push(server, ...end);
    await client.ping();
    await assert.rejects(client.get('slow'), /Socket timeout/i);
  });
}

test('MOVING takes the client to another server, and no command is lost', async (t) => {
  const [server, other] = [await startAnnouncing(t), await startAnnouncing(t)];
  await server.admin.set('where', 'old');
  await other.admin.set('where', 'new');
  const client = await connect(t, server);
  assert.equal(await client.get('where'), 'old');
  await push(server, 'MOVING', 1, 15, `${host}:${other.port}`);
  for (let sent = 0; sent < 100; sent++) await client.incr('sent');
  await eventually(async () => (await client.get('where')) === 'new');
  const counts = await Promise.all([server, other].map(async ({ admin }) => Number(await admin.get('sent'))));
  assert.equal(counts[0] + counts[1], 100);
  assert.equal(await other.admin.sendCommand(['TEST', 'PUSH', 'app', 'SUBSCRIBED', 'MIGRATED', '2', '[1]']), 1);
});

test('MOVING without an endpoint reconnects to the same server', async (t) => {
  const server = await startAnnouncing(t);
  const client = await connect(t, server, { maintEndpointType: 'none' });
  const before = await client.sendCommand(['CLIENT', 'ID']);
  await push(server, 'MOVING', 1, 1);
  await eventually(async () => (await client.sendCommand(['CLIENT', 'ID'])) > before);
});

test('SMIGRATED tells a cluster client which slots have moved', async (t) => {
  const server = await OwnServer.start(t, '--test', '--nodes', '2x0', '--port', 'auto', '--port-file', 'ports',
    '--test-maint-notifications', 'yes');
  const port = Number((await readFile(join(server.folder, 'ports'), 'utf8')).split('\n')[0]);
  const cluster = createCluster({
    RESP: 3, rootNodes: [{ socket: { host, port } }],
    defaults: { name: 'app', maintNotifications: 'enabled', socket: { host } },
  });
  cluster.on('error', () => {});
  await cluster.connect();
  t.after(() => cluster.destroy());
  const admin = createClient({ socket: { host, port } });
  admin.on('error', () => {});
  await admin.connect();
  t.after(() => admin.destroy());

  const nodes = await admin.sendCommand(['TEST', 'CLUSTER', 'LIST']);
  const [source, target] = nodes.map((node) => `${host}:${node.port}`);
  const ownerOf = (slot) => cluster.slots[slot].master.address;
  await cluster.get('{fHh}key'); // opens a connection to the owner of slot 0
  assert.equal(ownerOf(0), source);
  assert.equal(await admin.sendCommand(['TEST', 'CLUSTER', 'MOVE', '0', 'node-2']), 'OK');
  assert.equal(ownerOf(0), source);
  await admin.sendCommand(['TEST', 'PUSH', '*', 'SUBSCRIBED', 'SMIGRATED', '7', source, target, '0']);
  await eventually(() => ownerOf(0) === target);
});
