// Tests of one worker. Each empties its data and changes a directive, which would break the tests of other workers.
const { Redis } = require('ioredis');

module.exports = (file) => {
  const client = new Redis(process.env.SERVER.replace('WORLD', `jest-${process.env.JEST_WORKER_ID}`));

  beforeEach(() => client.flushall());
  afterAll(() => client.quit());

  test.each([...Array(8).keys()])(`file ${file}, test %i`, async (number) => {
    const policy = ['allkeys-lru', 'noeviction'][(file + number) % 2];
    await client.config('SET', 'maxmemory-policy', policy);
    for (let step = 1; step <= 20; step++) {
      expect(await client.incr('steps')).toBe(step);
      await client.set('place', `${file}.${number}`);
      expect(await client.get('place')).toBe(`${file}.${number}`);
      expect(await client.dbsize()).toBe(2);
    }
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', policy]);
  });
};
