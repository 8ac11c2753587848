// How ioredis recovers from each fault: what the program sees, and how often INCR runs. The table of
// docs/testing/client_recovery.md has the same results. The clock of the server stands still, so that no delay ends by
// itself.
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import Redis from 'ioredis';
import { eventually, test as limited, testServer } from '../support.js';

const test = limited.onTestServer;
const commandTimeout = 1500; // ioredis has no default; a busy machine may take some hundred ms to connect
const timedOut = { message: 'Command timed out' };

let control;

const faults = {
  test: (...words) => control.call('TEST', ...words),
  make: (...action) => faults.test('FAULT', 'ADD', 'fault', 'WHEN', 'COMMAND', 'INCR', 'DO', ...action, 'TIMES', 1),
  hits: () => faults.test('FAULT', 'HITS', 'fault'),
  end: () => faults.test('FAULT', 'CLEAR'),
  ran: async () => Number(await control.get('n')),
  /** Ends the client's connection, and refuses further ones. */
  async refuse(client, ...more) {
    const own = await client.client('ID');
    await faults.test('FAULT', 'ADD', 'fault', 'DO', 'REFUSE', ...more);
    assert.equal(await faults.test('DROP', 'ID', own), 1);
  },
};

before(() => {
  if (testServer) control = connect();
});
beforeEach(async () => {
  if (!testServer) return;
  await faults.test('RESET');
  await faults.test('CLOCK', 'FREEZE');
});
after(async () => {
  await control?.call('TEST', 'RESET');
  control?.disconnect();
});

function connect(options = {}) {
  const [host, port] = testServer.split(':');
  return new Redis(Number(port), host, options);
}

/** A client with its default settings, except for the given ones. */
async function program(t, options) {
  const client = connect(options);
  client.on('error', () => {}); // otherwise the client prints them
  t.after(() => client.disconnect());
  await client.ping();
  return client;
}

/** Removes the fault: the next INCR runs once. */
async function worksAgain(client, ran) {
  await faults.end();
  assert.equal(await client.incr('n'), ran + 1);
  assert.equal(await faults.ran(), ran + 1);
}

for (const error of ['LOADING', 'READONLY', 'MASTERDOWN', 'CLUSTERDOWN', 'TRYAGAIN', 'OOM', 'BUSY', 'NOREPLICAS', 'MISCONF',
  'NOSCRIPT', 'MOVED 1 127.0.0.1:1', 'ASK 1 127.0.0.1:1']) {
  test(`ERROR ${error.split(' ')[0]} is an error, and INCR does not run`, async (t) => {
    const client = await program(t);
    const own = await client.client('ID');
    await faults.make('ERROR', ...error.split(' '));
    await assert.rejects(client.incr('n'), { name: 'ReplyError', message: new RegExp(`^${error.split(' ')[0]} `) });
    assert.equal(await faults.ran(), 0);
    assert.equal(await client.client('ID'), own);
    await worksAgain(client, 0);
  });
}

test('a made up reply is believed', async (t) => {
  const client = await program(t);
  await faults.make('REPLY', ':41\r\n');
  assert.equal(await client.incr('n'), 41);
  await worksAgain(client, 0);
});

test('a reply that is no RESP is an error, and the connection is replaced', async (t) => {
  const client = await program(t);
  const own = await client.client('ID');
  await faults.make('REPLY', 'nonsense\r\n');
  await assert.rejects(client.incr('n'), /Unknown RESP type/);
  assert.equal(await faults.ran(), 0);
  assert.notEqual(await client.client('ID'), own);
  await worksAgain(client, 0);
});

for (const action of ['DELAY', 'DELAY-REPLY']) {
  test(`a ${action} that ends in time is waited for`, async (t) => {
    const client = await program(t);
    await faults.make(action, '1h');
    const reply = client.incr('n');
    await eventually(async () => (await faults.hits()) === 1);
    await faults.test('CLOCK', 'ADVANCE', '1h');
    assert.equal(await reply, 1);
    await worksAgain(client, 1);
  });
}

for (const [action, ...words] of [['DELAY', '1h'], ['DELAY-REPLY', '1h'], ['TRICKLE', '1'], ['SILENCE']]) {
  test(`${action} ends in a timeout; the connection stays, and what is behind waits`, async (t) => {
    const client = await program(t, { commandTimeout });
    const own = await client.client('ID');
    await faults.make(action, ...words);
    await assert.rejects(client.incr('n'), timedOut);
    assert.equal(await faults.ran(), action === 'DELAY' ? 0 : 1);
    await assert.rejects(client.ping(), timedOut);
    await faults.end();
    assert.equal(await client.client('ID'), own);
    assert.equal(await faults.ran(), 1); // after DELAY, INCR has run by now
    await worksAgain(client, 1);
  });
}

for (const [action, runs, ...words] of [['CLOSE', 1], ['CLOSE-AFTER', 2], ['CUT', 2, '2']]) {
  test(`INCR is retried after ${action}, and has run ${runs === 1 ? 'once' : 'twice'}`, async (t) => {
    const client = await program(t);
    await faults.make(action, ...words);
    assert.equal(await client.incr('n'), runs);
    assert.equal(await faults.hits(), 1);
    await worksAgain(client, runs);
  });
}

test('without retries a lost reply is an error, and INCR runs once', async (t) => {
  const client = await program(t, { maxRetriesPerRequest: 0 });
  await faults.make('CLOSE-AFTER');
  await assert.rejects(client.incr('n'), { name: 'MaxRetriesPerRequestError' });
  assert.equal(await faults.ran(), 1);
  await worksAgain(client, 1);
});

for (const mode of [[], ['LISTEN']]) {
  test(`${['REFUSE', ...mode].join(' ')} ends in a timeout, but INCR runs later`, async (t) => {
    const client = await program(t, { commandTimeout });
    await faults.refuse(client, ...mode);
    await assert.rejects(client.incr('n'), timedOut);
    assert.equal(await faults.ran(), 0);
    await faults.end();
    await eventually(async () => (await faults.ran()) === 1);
    await worksAgain(client, 1);
  });
}

test('one refusal is not seen', async (t) => {
  const client = await program(t);
  await faults.refuse(client, 'TIMES', 1);
  assert.equal(await client.incr('n'), 1);
  assert.equal(await faults.hits(), 1);
  await worksAgain(client, 1);
});
