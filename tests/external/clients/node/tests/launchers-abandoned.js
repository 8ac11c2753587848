// Starts a server through redis-memory-server, prints its address, and never stops it. The test kills this process.
import { RedisMemoryServer } from 'redis-memory-server';

const server = new RedisMemoryServer();
process.send({ port: await server.getPort(), pid: server.getInstanceInfo().childProcess.pid });
setInterval(() => {}, 1000);
