#include "server/lab/request_text.h"

#include <algorithm>

#include "base/word_text.h"

namespace respite {

std::string RequestText(std::span<const Bytes> words, size_t hidden_from) {
  constexpr size_t kWords = 12;
  constexpr size_t kOctets = 48;  // of a word
  std::string line;
  for (size_t i = 0; i < std::min(words.size(), kWords); ++i) {
    if (i != 0) line += ' ';
    if (i >= hidden_from) {
      line += "(redacted)";
      continue;
    }
    line += WordText(words[i].substr(0, kOctets));
    if (words[i].size() > kOctets) line += "...";
  }
  if (words.size() > kWords) line += " ... (" + std::to_string(words.size() - kWords) + " more words)";
  return line;
}

}  // namespace respite
