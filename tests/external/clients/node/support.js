// Shared by all suites here: the address of the server, servers for single tests, and waiting for a condition.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as unlimited } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

export const host = process.env.REDIS_HOST ?? '127.0.0.1';
export const port = Number(process.env.REDIS_PORT ?? 6379);
export const url = `redis://${host}:${port}`;
export const serverProgram = process.env.REDIS_SERVER ?? 'redis-server';

/** `host:port` of the server with the command TEST; undefined if the server under test has no such command. */
export const testServer = process.env.REDIS_TEST_SERVER;

/** True in the full run, false in the short run of every change. */
export const everything = process.env.CLIENTS_SCOPE === 'all';

/** A test with a time limit. */
export const test = (name, body) => unlimited(name, { timeout: 40_000 }, body);
test.skip = (name, body) => unlimited(name, { skip: true }, body);
/** A test that is too slow for the short run. */
test.onlyAll = everything ? test : test.skip;
/** A test for the server with the command TEST. */
test.onTestServer = testServer ? test : test.skip;

export async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port: free } = listener.address();
  listener.close();
  await once(listener, 'close');
  return free;
}

/** Repeats a call until its result is truthy, and returns it; an exception counts as "not yet". */
export async function eventually(question, limitMs = 10_000) {
  const deadline = Date.now() + limitMs;
  for (;;) {
    let answer, trouble;
    try {
      answer = await question();
    } catch (error) {
      trouble = error;
    }
    if (answer) return answer;
    if (Date.now() > deadline) throw trouble ?? new Error(`not within ${limitMs} ms: ${question}`);
    await pause(10);
  }
}

/** The version in the reply of INFO, as a number: 7.2.4 is 70204. */
export function versionOf(info) {
  const [major, minor, patch] = /redis_version:(\d+)\.(\d+)\.(\d+)/.exec(info).slice(1).map(Number);
  return major * 10_000 + minor * 100 + patch;
}

/** `INFO commandstats` as numbers: calls('evalsha') after CONFIG RESETSTAT returns how often it was sent. */
export function callsIn(commandstats, command) {
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(commandstats)?.[1] ?? 0);
}

/** A server that belongs to one test, in its own folder; ended and removed when the test ends. */
export class OwnServer {
  static start(t, ...words) {
    return OwnServer.startProgram(t, serverProgram, ...words);
  }

  static async startProgram(t, program, ...words) {
    const server = new OwnServer();
    server.program = program;
    server.folder = await mkdtemp(join(tmpdir(), 'clients-node-'));
    server.port = await freePort();
    server.words = words;
    t.after(() => server.remove());
    await server.run();
    return server;
  }

  async run() {
    const words = ['--port', this.port, '--bind', '127.0.0.1', '--save', '', '--dir', this.folder, ...this.words];
    this.process = spawn(this.program, words.map(String), { cwd: this.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = once(this.process, 'exit');
    let said = '';
    await new Promise((resolve, reject) => {
      this.process.stdout.on('data', (bytes) => {
        said += bytes;
        if (/eady to accept connections/.test(said)) resolve();
      });
      this.process.once('error', reject);
      this.process.once('exit', () => reject(new Error(`the server ended:\n${said}`)));
    });
  }

  /** Ends it as a crash would, so that it sends nothing more to clients. */
  async kill(signal = 'SIGKILL') {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    await this.ended;
  }

  async remove() {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Removes prototypes and the client's symbols from replies, and keeps only their data. */
export const plain = (reply) => JSON.parse(JSON.stringify(reply));

/** A server that belongs to one test, with a TLS port if it supports TLS, and with certificates for its clients. */
export async function startWithTls(t) {
  const keys = await mkdtemp(join(tmpdir(), 'clients-node-tls-'));
  t.after(() => rm(keys, { recursive: true, force: true }));
  const script = (name) => new URL(`./scripts/${name}`, import.meta.url).pathname;
  if (spawnSync(script('speaks_tls.sh'), [serverProgram], { cwd: keys }).status !== 0) return null;
  execFileSync(script('make_certificates.sh'), [keys], { stdio: 'ignore' });
  const file = (name) => join(keys, name);
  const tlsPort = await freePort();
  const server = await OwnServer.start(t, '--tls-port', tlsPort, '--tls-cert-file', file('server.crt'),
    '--tls-key-file', file('server.key'), '--tls-ca-cert-file', file('ca.crt'));
  const [ca, cert, key] = ['ca.crt', 'client.crt', 'client.key'].map((name) => readFileSync(file(name)));
  return Object.assign(server, { tlsPort, ca, cert, key });
}
