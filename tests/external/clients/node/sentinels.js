// Primaries with Sentinels for the suite, and the tests that all of their clients share: see ../README.md.
import assert from 'node:assert/strict';
import { controlAt, Load } from './cluster.js';
import { eventually } from './support.js';

export const control = controlAt('REDIS_SENTINELS_CONTROL');

/** The old primary accepts writes until a Sentinel makes it a replica, maybe ten seconds after a manual failover. */
const BY_HAND_MS = 20_000;
const AFTER_A_CRASH_MS = 10_000;

/** Starts a new primary, two replicas and three Sentinels. Returns the addresses of the Sentinels. */
export async function fresh() {
  return (await control('fresh')).split(',').map((address) => {
    const [host, port] = address.split(':');
    return { host, port: Number(port) };
  });
}

const KEPT = Array.from({ length: 100 }, (_, number) => number);

async function keep(client) {
  for (const number of KEPT) await client.set(`kept:${number}`, `${number}`);
  await control('settle');
}

async function checkKept(client) {
  for (const number of KEPT) assert.equal(await client.get(`kept:${number}`), `${number}`);
}

/** Waits until the client's writes are at the primary that the Sentinels name. */
async function writesReachThePrimary(client, limitMs) {
  let step = 0;
  await eventually(async () => {
    step += 1;
    await client.set('moved', `step-${step}`);
    return (await control('get', 'moved')) === `step-${step}`;
  }, limitMs);
}

export async function failoverByHandUnderLoad(client, isAllowed) {
  await keep(client);
  const before = await control('primary');
  const load = new Load((key) => client.incr(key), { isAllowed });
  await load.goesOn();
  assert.notEqual(await control('failover'), before);
  await writesReachThePrimary(client, BY_HAND_MS);
  await load.goesOn();
  await load.stop();
  await checkKept(client);
}

export async function primaryDiesUnderLoad(client, isAllowed) {
  await keep(client);
  const load = new Load((key) => client.incr(key), { isAllowed });
  let dead;
  try {
    await load.goesOn();
    dead = await control('kill');
    await load.goesOn(AFTER_A_CRASH_MS);
  } finally {
    await load.stop(); // otherwise there would be no time left to report the failure
  }
  assert.notEqual(await control('primary'), dead);
  await writesReachThePrimary(client, AFTER_A_CRASH_MS);
  await checkKept(client);
}
