// LocalKeys: keys that clients of a writable replica have given deadlines. The primary does not know of them, so the
// replica removes them itself when their time has come.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "server/execution/call_observer.h"

namespace respite {

class Clock;
struct Dataset;

class LocalKeys final : public CallObserver {
 public:
  struct Parts {
    const Clock& clock;
    Dataset& data;
  };
  explicit LocalKeys(const Parts& parts) : parts_(parts) {}

  // A client wrote. Cost: O(keys of the command · log n).
  void OnCall(const FinishedCall& call) override;
  // For the timer: removes what has expired, of some of the keys.
  void RemoveExpired();
  void Clear() { keys_.clear(); }
  size_t Count() const { return keys_.size(); }

 private:
  using Key = std::pair<int, std::string>;
  static constexpr int kPerRound = 64;

  // True when the key needs no more care.
  bool IsDone(const Key& key);

  const Parts parts_;
  std::set<Key> keys_;
  Key next_;  // the round goes on here
};

}  // namespace respite
