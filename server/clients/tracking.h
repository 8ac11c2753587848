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
class PushSender;
struct CurrentExecution;

class Tracking {  // tells clients which of their cached keys have changed
 public:
  struct Parts {  // the objects that Tracking uses; its constructor gets them
    const Env& env;
    Clients& clients;                           // all sessions
    PushSender& messages;                       // sends the invalidations
    const CurrentExecution& current_execution;  // the command that runs now
  };
  // `random_seed` determines which keys EnforceTableLimit forgets.
  Tracking(const Parts& parts, const HashKey& hash_key, uint64_t random_seed)
      : parts_(parts), readers_(0, KeyHash{hash_key}), random_(random_seed) {}

  // Turns tracking on with these options (CLIENT TRACKING ON). Keeps the prefixes that the client already has, and adds
  // those in `options`. Cost: O(prefixes).
  void Enable(Session& session, TrackingOptions options);  // CLIENT TRACKING ON
  // Stops tracking for the session. The server still remembers the keys that the session has read until these keys
  // change.
  void Disable(Session& session);  // for CLIENT TRACKING OFF, RESET and disconnection

  // Remembers that this client has read the keys of the command. Must be called after a command that reads keys.
  // Requires: the session tracks keys.
  void RememberReadKeys(Session& session, const Command& command, std::span<const Bytes> arguments);  // after a read
  // If more keys are tracked than tracking-table-max-keys, forgets some of them and sends their invalidations. While
  // the table stays too large, each call forgets up to 100 keys more than the call before.
  void EnforceTableLimit();  // forgets some keys if tracking-table-max-keys is exceeded
  void Broadcast();          // at the end of a Turn: sends the invalidations of broadcast mode

  // ChangeDispatcher calls IsEmpty, OnChange and OnFlush to report changes of the data; ChangeListener describes these
  // events. Cost of OnChange: O(readers of the key + number of different prefix lengths).
  bool IsEmpty() const {  // no client tracks keys, and no reads are remembered
    return readers_.empty() && prefixes_.empty() && tracking_client_count_ == 0;
  }
  void OnChange(Bytes key);  // the key has changed
  void OnFlush();            // tells all tracking clients to forget all keys

  size_t ClientCount() const { return tracking_client_count_; }  // number of clients with tracking on
  size_t KeyCount() const { return readers_.size(); }            // number of keys that clients with tracking have read
  size_t ItemCount() const { return item_count_; }         // number of pairs of a key and a client that has read it
  size_t PrefixCount() const { return prefixes_.size(); }  // number of prefixes of broadcast mode

 private:
  struct KeyHash {  // hashes the name of a key
    using is_transparent = void;
    HashKey hash_key;  // secret seed of the hash
    size_t operator()(Bytes key) const { return HashBytes(key, hash_key); }
  };
  // For each key, the sorted ids of the clients that have read it. Some of these clients may have disconnected.
  using Readers = std::unordered_map<std::string, std::vector<uint64_t>, KeyHash, std::equal_to<>>;
  struct Prefix {                           // one prefix of broadcast mode
    std::map<uint64_t, Session*> sessions;  // clients with this prefix, by id
    // The keys with this prefix that were changed in this Turn, each with the id of the client that changed it last; 0
    // means no client.
    std::map<std::string, uint64_t, std::less<>> changed;  // keys changed in this Turn, with the id of the last changer
  };

  void Invalidate(Readers::iterator row);  // sends invalidations to all readers of a key, and forgets the readers
  void QueueForBroadcast(Bytes key);       // the key has changed: adds it to `changed` of its prefixes
  void RemovePrefixes(Session& session);   // removes the client from all its prefixes
  // Sends an invalidation to the client, or to the client that its option REDIRECT names. `keys` is a RESP array of the
  // keys; a RESP null means all keys.
  void Tell(Session& session, Bytes keys);
  uint64_t RunningClientId() const;  // id of the client whose command runs; 0: none

  const Parts parts_;                                    // the objects that the constructor got
  Readers readers_;                                      // ids of the clients that have read each key
  std::map<std::string, Prefix, std::less<>> prefixes_;  // the prefixes of broadcast mode
  std::map<size_t, size_t> prefix_lengths_;              // number of prefixes of each length
  bool has_changes_ = false;                             // true: Broadcast must send invalidations
  size_t tracking_client_count_ = 0;                     // number of clients with tracking on
  size_t item_count_ = 0;                                // number of pairs of a key and a client that has read it
  size_t rounds_over_limit_ = 0;  // number of calls of EnforceTableLimit since the limit was last met
  Random random_;                 // selects the keys to forget
};

}  // namespace respite
