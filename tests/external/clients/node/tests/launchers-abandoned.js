// Starts a server through redis-memory-server, says where it is, and never stops it: it is there to be killed.
import { RedisMemoryServer } from 'redis-memory-server';

const server = new RedisMemoryServer();
process.send({ port: await server.getPort(), pid: server.getInstanceInfo().childProcess.pid });
setInterval(() => {}, 1000);
