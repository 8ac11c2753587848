// Words of a line that a user writes or reads, as in a configuration file or redis-cli.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

// Quotes the word if necessary, so that SplitQuoted reads one word and a line beginning with it is not a comment.
std::string WordText(Bytes word);
// Returns the words of a line, separated by spaces.
template <typename Words>
std::string LineText(const Words& words) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ' ';
    text += WordText(word);
  }
  return text;
}

}  // namespace respite
