import type { Options, Server } from './index';

export function useRespite(options?: Options): Server;
