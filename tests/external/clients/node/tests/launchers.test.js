// npm's launchers with this server's binary: start, use, stop. Neither a process nor a file may remain.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { createClient } from 'redis';
import RedisServer from 'redis-server';
import { eventually, freePort, serverProgram, test, versionOf } from '../support.js';

// Both launchers start the server in the current folder, so the test uses a folder whose content it can check.
const started = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'launchers-'));
process.chdir(folder);
process.env.REDISMS_SYSTEM_BINARY = serverProgram;
process.env.REDISMS_DOWNLOAD_DIR = join(folder, 'nothing-may-be-downloaded');
const { RedisMemoryServer } = await import('redis-memory-server');
before(async () => assert.deepEqual(await readdir(folder), []));
after(async () => {
  process.chdir(started);
  await rm(folder, { recursive: true });
});

async function connect(t, port) {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } }).on('error', () => {});
  await client.connect();
  t.after(() => client.isOpen && client.destroy());
  return client;
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function assertGone(pid, port) {
  await eventually(() => !isAlive(pid), 5000);
  await assert.rejects(createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } }).on('error', () => {}).connect(), /ECONNREFUSED/);
  assert.deepEqual(await readdir(folder), []);
}

/** Uses it, and turns saving off: a server with Redis' own save points writes a dump when it ends. */
async function use(t, port) {
  const client = await connect(t, port);
  await client.configSet('save', '');
  await client.set('k', 'v');
  assert.equal(await client.get('k'), 'v');
}

test('redis-server starts it on a port, and stops it', async (t) => {
  const port = await freePort();
  const server = new RedisServer({ bin: serverProgram, port });
  const said = [];
  server.on('stdout', (text) => said.push(text));
  await server.open();
  const { pid } = server.process;
  assert.match(said.join(''), /Ready to accept connections/);
  await use(t, port);
  await server.close();
  await assertGone(pid, port);
});

test('redis-server starts it with a configuration file', async (t) => {
  const port = await freePort();
  const elsewhere = mkdtempSync(join(tmpdir(), 'launchers-conf-'));
  t.after(() => rm(elsewhere, { recursive: true }));
  const conf = join(elsewhere, 'redis.conf');
  await writeFile(conf, `# a comment\nport ${port}\nbind 127.0.0.1\nsave ""\ndir "${elsewhere}"\nrequirepass 'a secret'\n`);
  const server = new RedisServer({ bin: serverProgram, conf });
  await server.open();
  const { pid } = server.process;
  const client = createClient({ socket: { host: '127.0.0.1', port }, password: 'a secret' });
  await client.connect();
  assert.equal(await client.ping(), 'PONG');
  client.destroy();
  await server.close();
  await assertGone(pid, port);
  assert.deepEqual(await readdir(elsewhere), ['redis.conf']);
});

test('redis-server is told when the port is taken', async (t) => {
  const taken = createServer().listen(0, '0.0.0.0');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const server = new RedisServer({ bin: serverProgram, port: taken.address().port });
  await assert.rejects(server.open(), { message: 'Address already in use' });
  assert.equal(server.process, null);
  assert.deepEqual(await readdir(folder), []);
});

test('redis-server opens and closes again and again', async (t) => {
  const port = await freePort();
  const server = new RedisServer({ bin: serverProgram, port });
  for (let i = 0; i < 3; i++) {
    await server.open();
    const { pid } = server.process;
    await use(t, port);
    await server.close();
    await assertGone(pid, port);
  }
});

test('redis-memory-server starts the program it is pointed at, and stops it', async (t) => {
  const server = new RedisMemoryServer({ instance: { args: ['--maxmemory', '64mb'] } });
  const { port, childProcess: { pid, spawnfile } } = await server.ensureInstance();
  assert.equal(spawnfile, serverProgram);
  const client = await connect(t, port);
  assert.equal((await client.configGet('maxmemory')).maxmemory, String(64 * 1024 * 1024));
  await client.set('k', 'v');
  assert.ok(versionOf(await client.info('server')) >= 60000);
  assert.equal(await server.stop(), true);
  await assertGone(pid, port);
});

test('redis-memory-server runs several side by side, each with its own data', async (t) => {
  const servers = Array.from({ length: 3 }, () => new RedisMemoryServer());
  const running = await Promise.all(servers.map((server) => server.ensureInstance()));
  const clients = await Promise.all(running.map(({ port }) => connect(t, port)));
  await Promise.all(clients.map((client, i) => client.set('who', `server ${i}`)));
  assert.deepEqual(await Promise.all(clients.map((client) => client.get('who'))), ['server 0', 'server 1', 'server 2']);
  await Promise.all(servers.map((server) => server.stop()));
  for (const { port, childProcess } of running) await assertGone(childProcess.pid, port);
});

test('a server whose harness was killed is ended by its keeper', async () => {
  const harness = fork(join(import.meta.dirname, 'launchers-abandoned.js'));
  const [{ port, pid }] = await once(harness, 'message');
  assert.ok(isAlive(pid));
  harness.kill('SIGKILL');
  await once(harness, 'exit');
  await assertGone(pid, port);
});
