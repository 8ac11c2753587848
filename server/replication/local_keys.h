// LocalKeys: keys with deadlines that clients of a writable replica have set. The primary does not know these keys, so
// the replica itself removes them when they expire.
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

  // Records the keys of a client's write that now have a deadline, or fields with deadlines. Ignores writes of the
  // primary. Cost: O(keys of the command · log n).
  void OnCall(const FinishedCall& call) override;
  // Checks some of the keys and removes the expired ones. Called by the timer.
  void RemoveExpired();
  void Clear() { keys_.clear(); }
  size_t Count() const { return keys_.size(); }

 private:
  using Key = std::pair<int, std::string>;
  static constexpr int kPerRound = 64;

  // Returns true if the key has no deadline left to watch.
  bool IsDone(const Key& key);

  const Parts parts_;
  std::set<Key> keys_;
  Key next_;  // where the next round starts
};

}  // namespace respite
