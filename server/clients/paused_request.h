// PausedRequest: a parsed request that runs, or continues, in a later Turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace respite {

// The progress of a request.
struct Progress {
  enum class Stage : uint8_t {
    kNew,
    kAgain,  // postponed by CLIENT PAUSE, or blocked: runs again from the gates on
    kBegun,  // partly done (Call::ContinueInNextTurn): does not pass the gates again
  };
  Stage stage = Stage::kNew;
  int64_t spent_us = 0;         // on finished parts
  bool has_met_faults = false;  // it was delayed by TEST FAULT
};

struct PausedRequest {
  std::vector<std::string> words;
  Progress progress;
};

}  // namespace respite
