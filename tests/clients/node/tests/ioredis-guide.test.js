// The pieces of JavaScript that docs/test_server_tasks.md prints, run as they are printed but for the port.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test, testServer } from '../support.js';

/** Each piece, named by the heading it is below. */
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

for (const { heading, code } of pieces) {
  test.onTestServer(heading, async (t) => {
    assert.match(code, /6379/);
    // Beside the packages, so that it finds them.
    const folder = await mkdtemp(join(import.meta.dirname, 'printed-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'printed.test.js');
    await writeFile(file, code.replaceAll('6379', testServer.split(':')[1]));
    // Without the variables by which a runner tells a child that its results are not for people.
    const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ['--test-reporter=tap', file], { env, timeout: 30_000 });
    assert.match(stdout, /^# pass [1-9]/m);
    assert.match(stdout, /^# fail 0$/m);
  });
}
