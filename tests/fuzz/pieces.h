// Cuts a fuzzer's input into pieces: the first four bytes are their lengths, used in turn.
#pragma once

#include <algorithm>
#include <vector>

#include "base/bytes.h"

namespace respite {

struct CutInput {
  explicit CutInput(Bytes input) {
    constexpr size_t kLengths = 4;
    Bytes lengths = input.substr(0, std::min(kLengths, input.size()));
    whole = input.substr(lengths.size());
    size_t turn = 0;
    for (Bytes rest = whole; !rest.empty(); ++turn) {
      size_t length = std::min<size_t>(rest.size(), static_cast<uint8_t>(lengths[turn % lengths.size()]) + size_t{1});
      pieces.push_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }

  Bytes whole;
  std::vector<Bytes> pieces;
};

}  // namespace respite
