'use strict';
// Implements enough of RESP to send TEST commands, so that no client library is needed. Replies are strings, numbers,
// null, arrays and objects; an error rejects.
const net = require('node:net');

const INCOMPLETE = Symbol('incomplete');

// Parses a reply in a buffer, and records where it ends.
class Reader {
  constructor(buffer) {
    this.buffer = buffer;
    this.place = 0;
  }

  line() {
    const end = this.buffer.indexOf('\r\n', this.place);
    if (end < 0) throw INCOMPLETE;
    const text = this.buffer.toString('utf8', this.place, end);
    this.place = end + 2;
    return text;
  }

  bulk(size) {
    if (this.buffer.length < this.place + size + 2) throw INCOMPLETE;
    const text = this.buffer.toString('utf8', this.place, this.place + size);
    this.place += size + 2;
    return text;
  }

  many(count) {
    return Array.from({ length: count }, () => this.reply());
  }

  reply() {
    const line = this.line();
    const rest = line.slice(1);
    switch (line[0]) {
      case '-': return new Error(rest);
      case ':': case ',': return Number(rest);
      case '#': return rest === 't';
      case '_': return null;
      case '$': return this.bulk(Number(rest));
      case '=': return this.bulk(Number(rest)).slice(4);
      case '!': return new Error(this.bulk(Number(rest)));
      case '*': case '~': case '>': return this.many(Number(rest));
      case '%': return Object.fromEntries(Array.from({ length: Number(rest) }, () => [this.reply(), this.reply()]));
      default: return rest;
    }
  }
}

class Connection {
  constructor({ host, port, user, password }) {
    this.waiting = [];
    this.buffer = Buffer.alloc(0);
    this.socket = net.connect({ host, port });
    this.socket.unref(); // must not keep the process alive
    this.socket.on('data', (octets) => this.take(octets));
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('the server ended the connection')));
    const login = user || password ? ['AUTH', user || 'default', password || 'x'] : [];
    this.ask('HELLO', 3, ...login).catch(() => {});
  }

  ask(...words) {
    if (this.socket.destroyed) return Promise.reject(new Error('the server ended the connection'));
    const parts = words.map((word) => (Buffer.isBuffer(word) ? word : Buffer.from(String(word))));
    const pieces = parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]);
    this.socket.ref();
    this.socket.write(Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...pieces]));
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  take(octets) {
    this.buffer = Buffer.concat([this.buffer, octets]);
    while (this.buffer.length > 0) {
      const reader = new Reader(this.buffer);
      let reply;
      try {
        reply = reader.reply();
      } catch (error) {
        if (error === INCOMPLETE) return;
        throw error;
      }
      this.buffer = this.buffer.subarray(reader.place);
      this.settle(reply);
    }
  }

  settle(reply) {
    const { resolve, reject } = this.waiting.shift();
    if (this.waiting.length === 0) this.socket.unref();
    if (reply instanceof Error) reject(reply);
    else resolve(reply);
  }

  fail(error) {
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }

  close() {
    this.socket.destroy();
  }
}

module.exports = { Connection };
