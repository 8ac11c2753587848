// HeldRequest: a request that was parsed and runs, or goes on, in a later Turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace respite {

// How far a request has come.
struct Progress {
  enum class Stage : uint8_t {
    kNew,
    kAgain,  // CLIENT PAUSE held it back, or it waited for a key: it begins anew, at the gates
    kBegun,  // it did a part of its work (Call::GoOnInNextTurn): it passed the gates for good
  };
  Stage stage = Stage::kNew;
  int64_t spent_us = 0;  // on the parts that are done
};

struct HeldRequest {
  std::vector<std::string> words;
  Progress progress;
};

}  // namespace respite
