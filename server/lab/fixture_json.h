// Fixtures as JSON: an object that has a member for each key.
//
//   {
//     "greeting":  "hello",                                     a text or a number is a string
//     "visits":    {"string": 41, "ttl": "1h"},
//     "profile:1": {"json": {"name": "Ada"}},                   a string: this JSON without blanks
//     "queue":     {"list": ["first", "second"]},
//     "tags":      {"set": ["red", "green"]},
//     "user:1":    {"hash": {"name": "Ada", "age": 36}, "db": 3},
//     "board":     {"zset": {"ada": 10, "bob": 7.5, "eve": "-inf"}},
//     "events":    {"stream": {"1-1": {"kind": "login"}, "2-1": {"kind": "logout"}}},
//     "log":       {"stream": [{"kind": "login"}]}              with the IDs of now
//   }
//
// A key has the whole value that is given here; what it had before is gone. "ttl" is a duration, "db" a number of a
// database, 0 if there is none. Elements, fields and members are texts or numbers. Names that occur twice in an object
// are refused, and so are unknown ones.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "server/lab/fixture.h"

namespace respite {

Result<Fixture> ReadJsonFixture(Bytes text);

}  // namespace respite
