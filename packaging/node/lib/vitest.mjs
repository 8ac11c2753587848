import { afterAll, beforeAll, beforeEach } from 'vitest';
import hooks from './hooks.js';

export const useRespite = hooks.hooksFor({ beforeAll, beforeEach, afterAll });
