// LocalKeys: keys with deadlines that clients of a writable replica have written. The primary may not know these keys
// or deadlines, so the replica itself removes the keys when they expire.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "server/execution/call_observer.h"

namespace respite {

class Clock;
struct Dataset;

class LocalKeys final : public CallObserver {  // keys with deadlines that a writable replica's clients wrote
 public:
  struct Parts {         // the arguments of the constructor
    const Clock& clock;  // the time that decides about expiry
    Dataset& data;
  };
  explicit LocalKeys(const Parts& parts) : parts_(parts) {}

  // Notes the keys of a client's write that now have a deadline, or have a field with one, even if the primary has set
  // this deadline. Ignores writes of the primary. Cost: O(keys of the command · log n).
  void OnCall(const FinishedCall& call) override;  // notes the keys of a client's write that now have a deadline
  void RemoveExpired();            // checks the next 64 keys; removes expired keys and fields. Called by the timer
  void Clear() { keys_.clear(); }  // stops watching all keys; removes none from the keyspace
  size_t Count() const { return keys_.size(); }  // number of keys that OnCall has noted

 private:
  using Key = std::pair<int, std::string>;  // database and name
  static constexpr int kKeysPerRound = 64;  // how many keys RemoveExpired checks in one call

  bool PurgeIfExpired(const Key& key);  // deletes the key or its fields if expired; true: nothing is left to watch

  const Parts parts_;  // the arguments of the constructor
  std::set<Key> keys_;
  Key next_;  // where the next round starts
};

}  // namespace respite
