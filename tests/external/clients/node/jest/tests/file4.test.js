require('./nobody_else.js')(4);
