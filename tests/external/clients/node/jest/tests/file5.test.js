require('./nobody_else.js')(5);
