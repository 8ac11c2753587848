// A worker that takes a job, reports this, and never ends the job. The test kills it.
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

const connection = new Redis({ port: Number(process.argv[2]), maxRetriesPerRequest: null });
new Worker(process.argv[3], () => {
  process.send('taken');
  return new Promise(() => {});
}, { connection, lockDuration: 500, stalledInterval: 300 });
