require('./nobody_else.js')(7);
