// redis-commander, the web page, in a headless Chromium: browse the tree, view values, edit them, run commands.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Redis } from 'ioredis';
import { chromium } from 'playwright-core';
import { eventually, freePort, host, port, test } from '../support.js';

const folder = mkdtempSync(join(tmpdir(), 'redis-commander-'));
const redis = new Redis({ host, port });
let commander, browser, page;

async function fill() {
  await redis.flushall();
  await redis.hset('demo:user:1', { id: 1, name: 'Jack', age: 21, city: 'Palermo', icon: '/img/jack.png' });
  await redis.hset('demo:user:2', { id: 2, name: 'Rose' });
  await redis.set('demo:product:1', JSON.stringify({ id: 1, name: 'Tea', price: 4.5 }), 'EX', 3600);
  await redis.zadd('demo:rank', 500, 'Tom', 800, 'Jerry', 700, 'Mike', 400, 'Amy', 300, 'Lucy');
  for (let i = 1; i <= 3; i++) await redis.xadd('demo:orders', `1700000000000-${i}`, 'user', `${1000 + i}`, 'voucher', '7');
  await redis.rpush('demo:queue', 'task1', 'task2', 'task3');
  await redis.sadd('demo:tags', 'travel', 'food');
  await redis.set('shop:1', 'open');
}

async function startCommander() {
  const webPort = await freePort();
  const program = createRequire(import.meta.url).resolve('redis-commander/bin/redis-commander.js');
  commander = spawn(process.execPath, [program, '--redis-host', host, '--redis-port', port, '--address', '127.0.0.1', '--port', webPort,
    '--noload', '--nosave'].map(String), { cwd: folder, env: { ...process.env, HOME: folder }, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  commander.stdout.on('data', (text) => { said += text; });
  await eventually(() => /access with browser/.test(said) && /Redis Connection/.test(said), 20_000);
  return `http://127.0.0.1:${webPort}`;
}

before(async () => {
  await fill();
  const address = await startCommander();
  browser = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    viewport: { width: 1200, height: 800 },
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  page = browser.pages()[0] ?? (await browser.newPage());
  page.setDefaultTimeout(30_000);
  page.on('dialog', (dialog) => dialog.accept());
  await page.goto(address);
});

after(async () => {
  redis.disconnect();
  await browser?.close();
  if (commander?.exitCode === null) {
    commander.kill();
    await once(commander, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

/** The node of the tree with this label, which is followed by the number of its keys or elements. */
function node(label, within = page.locator('#keyTree')) {
  const text = new RegExp(`^\\s*${label.replace('*', '\\*')}( \\(\\d+\\))?\\s*$`);
  return within.locator('li.jstree-node').filter({ has: page.locator('> a.jstree-anchor', { hasText: text }) }).last();
}

async function openFolder(label, within) {
  const item = node(label, within);
  await item.waitFor();
  if (/jstree-closed/.test(await item.getAttribute('class'))) await item.locator('> i.jstree-ocl').click();
  await item.locator('> ul > li').first().waitFor();
  return item;
}

/** Opens the folders of a key and selects it. Returns the rows of the table that shows it. */
async function show(...labels) {
  let within;
  for (const label of labels.slice(0, -1)) within = await openFolder(label, within);
  await node(labels.at(-1), within).locator('> a').click();
  await page.locator('#itemData label b').first().waitFor();
  await page.waitForLoadState('networkidle');
  return (await page.locator('#itemData tbody tr').allInnerTexts()).map((row) => row.split('\t').map((cell) => cell.trim()).filter(Boolean));
}

const shownType = async () => (await page.locator('#itemData > label').allInnerTexts()).map((text) => text.trim());

async function closeModal() {
  await page.locator('.modal-backdrop').waitFor({ state: 'detached' });
}

test('the tree folds keys at their colons', async () => {
  const demo = await openFolder('demo:*');
  const labels = (await demo.locator('> ul > li > a').allInnerTexts()).map((text) => text.trim()).sort();
  assert.deepEqual(labels, ['orders (3)', 'product:* (1)', 'queue (3)', 'rank (5)', 'tags (2)', 'user:* (2)']);
  const users = await openFolder('user:*', demo);
  assert.deepEqual((await users.locator('> ul > li > a').allInnerTexts()).map((text) => text.trim()).sort(), ['1', '2']);
});

test('a hash is shown with its fields, and a value edited there is changed on the server', async () => {
  const rows = await show('demo:*', 'user:*', '1');
  assert.deepEqual(rows, [['id', '1'], ['name', 'Jack'], ['age', '21'], ['city', 'Palermo'], ['icon', '/img/jack.png']]);
  assert.deepEqual(await shownType(), ['Key: demo:user:1', 'TTL: -1', 'Type: Hash']);
  await page.locator('#itemData tbody tr', { hasText: 'Palermo' }).dblclick();
  await page.locator('#editHashFieldModal.in #hashFieldValue').fill('Catania');
  await page.locator('#editHashFieldButton').click();
  await eventually(async () => (await redis.hget('demo:user:1', 'city')) === 'Catania');
  await closeModal();
  const again = await show('demo:*', 'user:*', '1');
  assert.deepEqual(again[3], ['city', 'Catania']);
  assert.equal(await redis.hlen('demo:user:1'), 5);
});

test('a stream is shown entry by entry', async () => {
  const rows = await show('demo:*', 'orders');
  assert.deepEqual((await shownType()).at(-1), 'Type: Stream (3 Entries)');
  const cells = rows.map((row) => row.join(' '));
  for (let i = 1; i <= 3; i++) {
    assert.ok(cells.some((text) => text.includes(`1700000000000-${i}`) && text.includes('user') && text.includes(`${1000 + i}`)), cells.join('\n'));
  }
});

test('a sorted set is shown by rank, and a score edited there moves its member', async () => {
  const rows = await show('demo:*', 'rank');
  assert.deepEqual(rows.map(([, score, member]) => [score, member]),
    [['800', 'Jerry'], ['700', 'Mike'], ['500', 'Tom'], ['400', 'Amy'], ['300', 'Lucy']]);
  await page.locator('#itemData tbody tr', { hasText: 'Lucy' }).dblclick();
  await page.locator('#editZSetMemberModal.in #zSetScore').fill('900');
  await page.locator('#editZSetValueButton').click();
  await eventually(async () => Number(await redis.zscore('demo:rank', 'Lucy')) === 900);
  await closeModal();
  assert.deepEqual((await show('demo:*', 'rank'))[0].slice(1), ['900', 'Lucy']);
});

test('lists, sets and texts are shown; a text is saved, its time to live seen', async () => {
  assert.deepEqual((await show('demo:*', 'queue')).map((row) => row.at(-1)), ['task1', 'task2', 'task3']);
  assert.deepEqual((await show('demo:*', 'tags')).map((row) => row.at(-1)).sort(), ['food', 'travel']);
  await show('demo:*', 'product:*', '1');
  const text = page.locator('#stringValue');
  assert.deepEqual(JSON.parse(await text.inputValue()), { id: 1, name: 'Tea', price: 4.5 });
  const left = Number(/TTL: (\d+)/.exec((await shownType()).join())[1]);
  assert.ok(left > 3500 && left <= 3600, `${left} s`);
  await text.fill('{"id":1,"name":"Green tea"}');
  await page.locator('#editStringForm #saveKeyButton').click();
  await eventually(async () => (await redis.get('demo:product:1')) === '{"id":1,"name":"Green tea"}');
});

test('the server tells the page about itself', async () => {
  await page.locator('#keyTree > ul > li > a').click();
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))[1];
  await page.locator('#body td').getByText(version, { exact: true }).first().waitFor();
  assert.match(await page.locator('#body').innerText(), /used memory/i);
});

test('a command typed into the page is answered there', async () => {
  await page.locator('#commandLine').click();
  await page.locator('#_readline_cliForm input').fill('zrevrange demo:rank 0 1');
  await page.keyboard.press('Enter');
  await page.locator('#commandLineOutput').getByText('"Lucy"', { exact: false }).waitFor();
  await page.locator('#app-container').click({ position: { x: 700, y: 80 } });
  await page.locator('#commandLineOutput').waitFor({ state: 'hidden' });
});

test('a key deleted in the page is gone from the server', async () => {
  await show('demo:*', 'tags');
  await page.locator('#itemActionsBar').getByText('Delete Key').click();
  await eventually(async () => (await redis.exists('demo:tags')) === 0);
  await node('demo:*').getByText('demo:* (6)').waitFor();
});

test('the page draws the tree and a hash beside it', async () => {
  await fill();
  await page.reload();
  const demo = await openFolder('demo:*');
  await openFolder('product:*', demo);
  await openFolder('shop:*');
  assert.equal((await show('demo:*', 'user:*', '1')).length, 5);
  // CLIENTS_SCREENSHOT names a file for a screenshot, such as the one in docs.
  const picture = await page.screenshot({ path: process.env.CLIENTS_SCREENSHOT });
  assert.equal(picture.subarray(1, 4).toString(), 'PNG');
});
