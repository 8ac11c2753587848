// SlowLog: the latest commands that took longer than slowlog-log-slower-than.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class SlowLog {
 public:
  struct Record {
    int64_t id;
    int64_t unix_time_s;
    int64_t duration_us;
    std::vector<std::string> words;  // shortened: at most kWordsMax, each at most kWordBytesMax
    std::string peer;
    std::string client_name;
  };
  static constexpr size_t kWordsMax = 32;
  static constexpr size_t kWordBytesMax = 128;

  // Keeps the newest `max_records`. Cost: O(words kept).
  void Add(Record record, size_t max_records);
  void Trim(size_t max_records);
  void Clear() { records_.clear(); }
  // Newest first.
  const std::deque<Record>& Records() const { return records_; }
  int64_t NextId() const { return next_id_; }

  static std::vector<std::string> Shorten(std::span<const Bytes> words);

 private:
  std::deque<Record> records_;
  int64_t next_id_ = 0;
};

}  // namespace respite
