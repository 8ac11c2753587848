// Words of a line that a person writes or reads, as in a configuration file or redis-cli.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

// In quotes if the word needs them, so that SplitQuoted reads it as one word, and a line that begins with it is no
// comment.
std::string WordText(Bytes word);
// The words of a line, with a space between two.
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
