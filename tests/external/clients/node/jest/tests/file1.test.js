require('./nobody_else.js')(1);
