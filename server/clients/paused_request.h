// PausedRequest: a parsed request that runs, or continues, in a later Turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace respite {

struct Progress {
  enum class Stage : uint8_t {
    kNew,
    kAgain,  // paused by CLIENT PAUSE, or blocked: passes the gates again
    kBegun,  // partly done (Call::ContinueInNextTurn): does not pass the gates again
  };
  Stage stage = Stage::kNew;
  int64_t spent_us = 0;         // running time of finished parts
  bool has_met_faults = false;  // TEST FAULT has delayed it
};

struct PausedRequest {
  std::vector<std::string> words;
  Progress progress;
};

}  // namespace respite
