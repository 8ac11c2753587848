// Fixture: the data that a test begins with, as requests that make it.
#pragma once

#include <string>
#include <vector>

namespace respite {

struct Fixture {
  struct Request {
    std::vector<std::string> words;
    std::string place;  // in its file: "line 3", "offset 120", `key "user:1"`
  };
  std::vector<Request> requests;
};

}  // namespace respite
