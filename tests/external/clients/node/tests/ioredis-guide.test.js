// The pieces of JavaScript that docs/test_server_tasks.md prints, run as printed except for the port.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test, testServer } from '../support.js';

/** Each piece, with the heading above it. */
function* printed() {
  const page = readFileSync(new URL('../test_server_tasks.md', import.meta.url), 'utf8');
  let heading = '';
  for (const [, title, code] of page.matchAll(/^## (.*?)$|^```js\n(.*?)^```/gms)) {
    heading = title ?? heading;
    if (code) yield { heading, code };
  }
}

const pieces = [...printed()];

test('the page prints some', () => assert.ok(pieces.length >= 2));

/** Runs a test file; `reporter` selects the format of its output. */
async function run(t, code, reporter) {
  // Next to the packages, so that it finds them.
  const folder = await mkdtemp(join(import.meta.dirname, 'printed-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'printed.test.js');
  await writeFile(file, code.replaceAll('6379', testServer.split(':')[1]));
  // Removes the variables by which a test runner asks its child for machine-readable results.
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = process.env;
  return promisify(execFile)(process.execPath, [`--test-reporter=${reporter}`, file], { env, timeout: 30_000 });
}

for (const { heading, code } of pieces) {
  test.onTestServer(heading, async (t) => {
    assert.match(code, /6379/);
    const { stdout } = await run(t, code, 'tap');
    assert.match(stdout, /^# pass [1-9]/m);
    assert.match(stdout, /^# fail 0$/m);
  });
}

const failing = `
import { after, test } from 'node:test';
import Redis from 'ioredis';

const world = 'redis://world.node-failing:any@localhost:6379';
const admin = new Redis(world);
const worker = new Redis(world, { connectionName: 'worker-1' });

after(() => Promise.all([admin.quit(), worker.quit()]));

test('the lock is not taken', async () => {
  await worker.ping();
  await admin.call('TEST', 'JOURNAL', 'START');
  await worker.set('lock:1', 'a b', 'NX');
  await worker.get('stock');
  await admin.call('TEST', 'EXPECT', 'COMMAND', 'set', 'KEY', 'lock:*', 'NONE');
});
`;

test.onTestServer('a failed expectation is readable', async (t) => {
  await assert.rejects(run(t, failing, 'spec'), ({ stdout }) => {
    const text = 'EXPECT wanted none of [COMMAND set KEY lock:*], saw 1: | #1 worker-1: set lock:1 "a b" NX -> ok\n';
    assert.ok(stdout.includes(text), stdout);
    return true;
  });
});
