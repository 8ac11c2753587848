require('./nobody_else.js')(8);
