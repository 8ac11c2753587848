require('./nobody_else.js')(2);
