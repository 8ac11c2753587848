'use strict';
/* global beforeAll, beforeEach, afterAll */
const { hooksFor } = require('./hooks.js');

module.exports = { useRespite: hooksFor({ beforeAll, beforeEach, afterAll }) };
