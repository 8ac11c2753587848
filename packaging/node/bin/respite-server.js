#!/usr/bin/env node
'use strict';
// Runs the server in the foreground; signals for this process reach it.
const { spawn } = require('node:child_process');
const { findProgram } = require('../lib/program.js');

function programOrExit() {
  try {
    return findProgram();
  } catch (error) {
    console.error(`respite-server: ${error.message}`);
    process.exit(1);
  }
}

const server = spawn(programOrExit(), process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : code));
