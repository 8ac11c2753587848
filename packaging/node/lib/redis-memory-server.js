'use strict';
// The interface of redis-memory-server: tests that use it change the name of the package that they import.
const { startRespite } = require('./index.js');

class RedisMemoryServer {
  constructor(options = {}) {
    this.opts = options;
    if (options.autoStart) this.start();
  }

  static async create(options) {
    const server = new RedisMemoryServer({ ...options, autoStart: true });
    await server.ensureInstance();
    return server;
  }

  async start() {
    if (this.runningInstance) throw new Error('The server runs already; use ensureInstance()');
    const { port, ip, args = [] } = this.opts.instance ?? {};
    this.runningInstance = startRespite({
      args: [...(port ? ['--port', port] : []), ...(ip ? ['--bind', ip] : []), ...args],
    }).catch((error) => {
      this.runningInstance = undefined;
      throw error;
    });
    await this.runningInstance;
    return true;
  }

  async ensureInstance() {
    if (!this.runningInstance) await this.start();
    const server = await this.runningInstance;
    const ip = this.opts.instance?.ip ?? server.host;
    return { port: server.port, ip, childProcess: server.process, instance: server };
  }

  getInstanceInfo() {
    return this.runningInstance ? this.ensureInstance() : false;
  }

  async getHost() {
    return (await this.ensureInstance()).ip;
  }

  getIp() {
    return this.getHost();
  }

  async getPort() {
    return (await this.ensureInstance()).port;
  }

  async stop() {
    const server = await this.runningInstance;
    this.runningInstance = undefined;
    await server?.stop();
    return true;
  }
}

module.exports = { RedisMemoryServer, default: RedisMemoryServer };
