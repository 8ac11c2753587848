'use strict';
// Finds the program: $RESPITE_SERVER, or the optional dependency for this platform.
const path = require('node:path');

function findProgram() {
  if (process.env.RESPITE_SERVER) return process.env.RESPITE_SERVER;
  if (process.platform !== 'linux') {
    throw new Error('Respite runs on Linux only, so far: use a Linux container or virtual machine, or WSL 2. ' +
      'The environment variable RESPITE_SERVER can name another program');
  }
  const name = `respite-server-${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'respite-server');
  } catch {
    throw new Error(`${name} is not installed; the environment variable RESPITE_SERVER can name the program`);
  }
}

module.exports = { findProgram };
