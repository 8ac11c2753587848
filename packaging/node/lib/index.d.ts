/// <reference types="node" />
import type { ChildProcess } from 'node:child_process';

export type Reply = string | number | boolean | null | Reply[] | { [key: string]: Reply };
export type Duration = number | string;

export interface Clock {
  freeze(at?: number | Date): Promise<Reply>;
  advance(duration: Duration): Promise<Reply>;
  set(time: number | Date): Promise<Reply>;
  next(): Promise<Reply>;
  real(): Promise<Reply>;
  now(): Promise<number>;
}

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string;
  readonly url: string;
  readonly clock: Clock;
  ask(...words: unknown[]): Promise<Reply>;
  test(...words: unknown[]): Promise<Reply>;
  reset(): Promise<Reply>;
}

export interface World extends Place {
  readonly name: string;
  drop(): Promise<Reply>;
}

export interface Server extends Place {
  readonly ports: number[];
  readonly process: ChildProcess;
  world(name?: string): World;
  stop(): Promise<void>;
}

export interface Options {
  args?: (string | number)[];
  password?: string;
}

export function startRespite(options?: Options): Promise<Server>;
export function findProgram(): string;
