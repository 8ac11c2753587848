require('./nobody_else.js')(6);
