'use strict';
// Starts a server for tests, and controls it: its clock, faults, worlds.
const { spawn } = require('node:child_process');
const { Connection } = require('./connection.js');
const { findProgram } = require('./program.js');

const milliseconds = (time) => (time instanceof Date ? time.getTime() : time);

// The clock of a server or a world: see TEST CLOCK. Durations are milliseconds, or text such as '30s'; times are Unix
// milliseconds or dates.
class Clock {
  constructor(place) {
    this.place = place;
  }

  freeze(at) {
    return this.place.test('CLOCK', 'FREEZE', ...(at === undefined ? [] : [milliseconds(at)]));
  }

  // Lets time pass. Everything that falls due meanwhile has happened when this resolves.
  advance(duration) {
    return this.place.test('CLOCK', 'ADVANCE', duration);
  }

  set(time) {
    return this.place.test('CLOCK', 'SET', milliseconds(time));
  }

  // Jumps to the next event that falls due.
  next() {
    return this.place.test('CLOCK', 'NEXT');
  }

  real() {
    return this.place.test('CLOCK', 'REAL');
  }

  async now() {
    return (await this.place.test('CLOCK')).now;
  }
}

// A server or a world: where clients reach it, and its TEST commands.
class Place {
  constructor({ host, port, user, password }) {
    Object.assign(this, { host, port, user, password });
    this.clock = new Clock(this);
  }

  get url() {
    const login = this.user || this.password ? `${[this.user || '', this.password || 'x'].map(encodeURIComponent).join(':')}@` : '';
    return `redis://${login}${this.host}:${this.port}/0`;
  }

  ask(...words) {
    this.connection ??= new Connection(this);
    return this.connection.ask(...words);
  }

  test(...words) {
    return this.ask('TEST', ...words);
  }

  // Returns data, users, settings, faults and the clock to their state at the start.
  reset() {
    return this.test('RESET');
  }

  disconnect() {
    this.connection?.close();
    this.connection = undefined;
  }
}

// An isolated server behind the port of another one; created when it is first used.
class World extends Place {
  constructor(server, name) {
    super({ host: server.host, port: server.port, user: `world.${name}`, password: server.password });
    this.server = server;
    this.name = name;
  }

  drop() {
    this.disconnect();
    return this.server.test('WORLD', 'DROP', this.name);
  }
}

let worlds = 0;

class Server extends Place {
  constructor(child, ports, password) {
    super({ host: '127.0.0.1', port: ports[0], password });
    this.process = child;
    this.ports = ports;
  }

  world(name = `${process.pid}-${++worlds}`) {
    return new World(this, name);
  }

  async stop() {
    this.disconnect();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.ref();
    await new Promise((resolve) => this.process.once('exit', resolve).kill());
  }
}

function textOf(stream) {
  return new Promise((resolve, reject) => {
    let text = '';
    stream.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => resolve(text)).on('error', reject);
  });
}

// Starts a server on a free port; it ends with stop(), or at the latest when this process ends. `args` are more arguments
// of respite-server, such as ['--nodes', '3x1'].
async function startRespite({ args = [], password } = {}) {
  const secret = password ? ['--requirepass', password] : [];
  const child = spawn(findProgram(), ['--test', ...secret, ...args.map(String), '--ready-fd', '3'],
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const failed = new Promise((_, reject) => child.once('error', reject));
  const output = [child.stdout, child.stderr];
  const log = Promise.all(output.map(textOf));
  const ports = (await Promise.race([textOf(child.stdio[3]), failed])).split('\n').filter(Boolean).map(Number);
  if (ports.length === 0) throw new Error(`respite-server did not start:\n${(await log).join('')}`);
  for (const stream of output) stream.destroy(); // it continues without a reader
  child.unref();
  return new Server(child, ports, password);
}

module.exports = { startRespite, findProgram, Server, World, Clock };
