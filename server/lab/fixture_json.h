// A fixture (the initial data of a test) as JSON: an object that has a member for each key.
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
//     "log":       {"stream": [{"kind": "login"}]}              IDs from the current time
//     "readings":  {"array": ["20.5", null, "21"]},             null: no element at this index
//     "order:1":   {"document": {"total": 19.99}},              a JSON document, as of JSON.SET
//     "sparse":    {"array": {"0": "a", "1000000": "b"}},       elements by index
//     "animals":   {"vectorset": {"cat": [0.1, 0.9], "dog": {"vector": [0.2, 0.8], "attributes": {"legs": 4}}}}
//   }
//
// A value in the fixture replaces any previous value of the key. "ttl" is a duration, not 0. "db" is a database number;
// the default is 0. Elements, scores and the values of fields are texts or numbers. Unknown names, and names that occur
// twice in an object, are refused.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "server/lab/fixture.h"

namespace respite {

Result<Fixture> ReadJsonFixture(Bytes text);  // reads test data: a JSON object that has a member for each key

}  // namespace respite
