#include "base/word_text.h"

#include <algorithm>

namespace respite {

std::string WordText(Bytes word) {
  const auto is_plain = [](char c) { return IsPrintable(c) && c != ' ' && c != '"' && c != '\'' && c != '\\'; };
  const bool needs_none = !word.empty() && word.front() != '#' && std::ranges::all_of(word, is_plain);
  return needs_none ? std::string(word) : Quoted(word);
}

}  // namespace respite
