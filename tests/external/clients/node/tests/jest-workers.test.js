// Eight workers of Jest on one server: each in its own world, which only its URL selects.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { OwnServer, test } from '../support.js';

const WORKERS = 8;

test.onTestServer('workers of Jest share a server', async (t) => {
  const server = await OwnServer.start(t, '--test-commands', 'local');
  const project = fileURLToPath(new URL('../jest/', import.meta.url));
  const done = spawnSync(`${project}node_modules/.bin/jest`, ['--maxWorkers', `${WORKERS}`, '--no-cache'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, SERVER: `redis://world.WORLD:x@127.0.0.1:${server.port}/0` },
  });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.match(done.stderr, /Tests: +64 passed, 64 total/);
  const client = new Redis(server.port);
  const worlds = JSON.stringify(await client.call('TEST', 'WORLD', 'LIST'));
  assert.ok(worlds.match(/jest-\d/g).length > 1, worlds);
  assert.equal(await client.dbsize(), 0);
  await client.quit();
});
