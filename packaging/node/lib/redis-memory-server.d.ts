import type { ChildProcess } from 'node:child_process';

export interface RedisMemoryServerOptions {
  instance?: { port?: number; ip?: string; args?: string[] };
  binary?: object;
  autoStart?: boolean;
}

export interface InstanceInfo {
  port: number;
  ip: string;
  childProcess: ChildProcess;
}

export class RedisMemoryServer {
  constructor(options?: RedisMemoryServerOptions);
  static create(options?: RedisMemoryServerOptions): Promise<RedisMemoryServer>;
  start(): Promise<boolean>;
  stop(): Promise<boolean>;
  ensureInstance(): Promise<InstanceInfo>;
  getInstanceInfo(): Promise<InstanceInfo> | false;
  getHost(): Promise<string>;
  getIp(): Promise<string>;
  getPort(): Promise<number>;
}

export default RedisMemoryServer;
