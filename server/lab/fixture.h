// Fixture: the initial data of a test, stored as the requests that create the data.
#pragma once

#include <string>
#include <vector>

namespace respite {

struct Fixture {                     // initial data of a test, as the requests that create the data
  struct Request {                   // one request, and its position in the fixture file
    std::vector<std::string> words;  // arguments, including the command name
    std::string place;               // position in the fixture file: "line 3", "offset 120", `key "user:1"`
  };
  std::vector<Request> requests;  // the requests to run, in order
};

}  // namespace respite
