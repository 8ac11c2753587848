#include "server/execution/slowlog.h"

#include <algorithm>
#include <utility>

namespace respite {

void SlowLog::Add(Record record, size_t max_records) {
  record.id = next_id_++;
  records_.push_front(std::move(record));
  Trim(max_records);
}

void SlowLog::Trim(size_t max_records) {
  while (records_.size() > max_records) records_.pop_back();
}

std::vector<std::string> SlowLog::Shorten(std::span<const Bytes> words) {
  std::vector<std::string> kept;
  size_t whole = words.size() > kWordsMax ? kWordsMax - 1 : words.size();
  kept.reserve(std::min(words.size(), kWordsMax));
  for (Bytes word : words.first(whole)) {
    std::string text(word.substr(0, kWordBytesMax));
    if (word.size() > kWordBytesMax) text += "... (" + std::to_string(word.size() - kWordBytesMax) + " more bytes)";
    kept.push_back(std::move(text));
  }
  if (whole < words.size()) kept.push_back("... (" + std::to_string(words.size() - whole) + " more arguments)");
  return kept;
}

}  // namespace respite
