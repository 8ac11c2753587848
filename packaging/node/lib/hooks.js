'use strict';
const { startRespite } = require('./index.js');

// One server for a file of tests, empty for each test. The result is usable within tests and hooks.
function hooksFor({ beforeAll, beforeEach, afterAll }) {
  return (options) => {
    const handle = {};
    beforeAll(async () => {
      handle.server = await startRespite(options);
    });
    beforeEach(() => handle.server.reset());
    afterAll(() => handle.server.stop());
    return new Proxy(handle, {
      get(target, name) {
        const value = target.server?.[name];
        return typeof value === 'function' ? value.bind(target.server) : value;
      },
    });
  };
}

module.exports = { hooksFor };
