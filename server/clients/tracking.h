// Tracking: client-side caching. Sends invalidations to clients that cache the keys that they read.
//
// By default the server remembers which client read which key (without its database) until it sends the invalidation.
// In broadcast mode it remembers no reads: at the end of a Turn each client gets the changed keys that begin with one
// of its prefixes. Under RESP3 an invalidation is a push on the client's connection; under RESP2 it goes to another
// connection, which has subscribed to __redis__:invalidate.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/random.h"
#include "server/clients/session.h"
#include "server/runtime/env.h"

namespace respite {

struct Command;
class Clients;
class PushMessages;
struct CurrentExecution;

class Tracking {
 public:
  struct Parts {
    const Env& env;
    Clients& clients;
    PushMessages& messages;
    const CurrentExecution& current_execution;
  };
  // `random_seed` selects the keys that KeepWithinLimit forgets.
  Tracking(const Parts& parts, const HashKey& hash_key, uint64_t random_seed)
      : parts_(parts), readers_(0, KeyHash{hash_key}), random_(random_seed) {}

  // CLIENT TRACKING ON. Adds the prefixes to the client's existing prefixes. Cost: O(prefixes).
  void Enable(Session& session, TrackingOptions options);
  // CLIENT TRACKING OFF, RESET and the end of a session. The keys that the client read are forgotten when they change.
  void Disable(Session& session);

  // Remembers the keys that the session has read. Must be called after a command that reads keys. Requires: the session
  // tracks.
  void Remember(Session& session, const Command& command, std::span<const Bytes> words);
  // Forgets keys and sends their invalidations until tracking-table-max-keys is met; a limited number per call.
  void KeepWithinLimit();
  // Sends invalidations in broadcast mode. Called at the end of a Turn.
  void Broadcast();

  // See ChangeListener. Cost: O(readers of the key + prefixes of different length).
  bool Empty() const { return readers_.empty() && prefixes_.empty() && clients_ == 0; }
  void OnChange(Bytes key);
  void OnFlush();

  // For INFO.
  size_t ClientCount() const { return clients_; }
  size_t Keys() const { return readers_.size(); }
  size_t Items() const { return items_; }
  size_t Prefixes() const { return prefixes_.size(); }

 private:
  struct KeyHash {
    using is_transparent = void;
    HashKey hash_key;
    size_t operator()(Bytes key) const { return HashBytes(key, hash_key); }
  };
  // Sorted ids of clients, some of which may be closed.
  using Readers = std::unordered_map<std::string, std::vector<uint64_t>, KeyHash, std::equal_to<>>;
  struct Prefix {
    std::map<uint64_t, Session*> sessions;
    // Keys changed in this Turn, each with the last client that changed it; 0: no client.
    std::map<std::string, uint64_t, std::less<>> changed;
  };

  // Sends invalidations to the readers of a key and forgets them.
  void Invalidate(Readers::iterator row);
  void NoteForBroadcast(Bytes key);
  void RemovePrefixes(Session& session);
  // Sends an invalidation; `keys` is the array of keys, or null, in the format of the message.
  void Tell(Session& session, Bytes keys);
  uint64_t RunningClient() const;

  const Parts parts_;
  Readers readers_;
  std::map<std::string, Prefix, std::less<>> prefixes_;
  std::map<size_t, size_t> prefix_lengths_;  // with the number of prefixes of each length
  bool has_changes_ = false;                 // for Broadcast
  size_t clients_ = 0;
  size_t items_ = 0;
  size_t rounds_over_limit_ = 0;
  Random random_;
};

}  // namespace respite
