// SlowLog: the latest commands that took longer than slowlog-log-slower-than. Listens to calls of that length.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/execution/call_observer.h"

namespace respite {

struct Running;
struct Settings;

class SlowLog final : public CallObserver {
 public:
  struct Parts {
    const Settings& settings;
    const Running& running;
    CallObservers& observers;
  };
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

  explicit SlowLog(const Parts& parts) : parts_(parts) { AdoptThreshold(); }

  // slowlog-log-slower-than has changed.
  void AdoptThreshold();
  // slowlog-max-len has changed: keeps the newest.
  void Trim();
  void Clear() { records_.clear(); }
  // Newest first.
  const std::deque<Record>& Records() const { return records_; }
  int64_t NextId() const { return next_id_; }

  // Cost: O(words kept).
  void OnCall(const FinishedCall& call) override;

 private:
  static std::vector<std::string> Shorten(std::span<const Bytes> words);

  const Parts parts_;
  std::deque<Record> records_;
  int64_t next_id_ = 0;
};

}  // namespace respite
