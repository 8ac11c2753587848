require('./nobody_else.js')(3);
