// Tracking: client-side caching. Sends invalidations to clients that cache the keys that they read.
//
// By default the server remembers which client has read which key, until the invalidation of the key is sent. The
// database of the key is not remembered. In broadcast mode, the server remembers no reads. At the end of a Turn, each
// client gets the changed keys that begin with one of its prefixes. Under RESP3, an invalidation is a push on the
// client's connection. Under RESP2, the invalidation goes to another connection (REDIRECT), which has subscribed to
// __redis__:invalidate.
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

class Tracking {  // client-side caching: tells clients which of the keys they read have changed
 public:
  struct Parts {  // the objects that Tracking uses; its constructor gets them
    const Env& env;
    Clients& clients;                           // the sessions of all clients
    PushSender& messages;                       // sends the invalidations
    const CurrentExecution& current_execution;  // the command that runs now
  };
  // `random_seed` determines which keys EnforceTableLimit forgets.
  Tracking(const Parts& parts, const HashKey& hash_key, uint64_t random_seed)
      : parts_(parts), readers_(0, KeyHash{hash_key}), random_(random_seed) {}

  // Turns tracking on with these options (CLIENT TRACKING ON). Keeps the prefixes that the client already has, and adds
  // the prefixes in `options`. Cost: O(prefixes).
  void Enable(Session& session, TrackingOptions options);  // CLIENT TRACKING ON
  // Turns tracking off for the session. The server still remembers which keys the session has read, until these keys
  // change or EnforceTableLimit forgets them.
  void Disable(Session& session);  // CLIENT TRACKING OFF, RESET, or the client has disconnected

  // Remembers that this client has read the keys of the command, unless its mode excludes them (BCAST, OPTIN, OPTOUT).
  // Must be called after a command that reads keys. Requires: the session tracks keys.
  void RememberReadKeys(Session& session, const Command& command,  // remembers the keys that a command has read
                        std::span<const Bytes> arguments);
  // Forgets some tracked keys, and sends their invalidations, if there are more than tracking-table-max-keys, or if
  // their names take more than 64 MB + 1 KB for each of tracking-table-max-keys. Does nothing if this directive is 0.
  // The first call forgets up to 100 keys. While the table stays above a limit, each call forgets up to 100 keys more
  // than the call before.
  void EnforceTableLimit();  // above a limit of the table: forgets some keys, tells their readers
  // Sends the invalidations of broadcast mode: the changed keys, or an invalidation of all keys if the names of the
  // keys that one Turn has changed take more than 16 MB. Sends an invalidation of all keys to the clients in
  // clients_to_tell_all_. Called at the end of a Turn (a pass of the event loop).
  void Broadcast();  // sends the invalidations that have waited for the end of the Turn

  // ChangeDispatcher calls IsEmpty, OnChange and OnFlush to report changes of the data; ChangeListener describes these
  // events. Cost of OnChange: O(readers of the key + number of different prefix lengths).
  bool IsEmpty() const {  // true: no client tracks keys, and no reads are remembered
    return readers_.empty() && prefixes_.empty() && tracking_client_count_ == 0;
  }
  void OnChange(Bytes key);  // called after a change of the key; tells its readers, or notes it for Broadcast
  void OnFlush();            // called before a flush of any database; tells all tracking clients

  size_t ClientCount() const { return tracking_client_count_; }  // number of clients with tracking on
  size_t KeyCount() const { return readers_.size(); }            // number of remembered keys, which clients have read
  size_t ItemCount() const { return item_count_; }               // number of pairs of a remembered key and a reader
  size_t PrefixCount() const { return prefixes_.size(); }        // number of prefixes of broadcast mode

 private:
  struct KeyHash {  // hash function of a key
    using is_transparent = void;
    HashKey hash_key;  // secret seed of the hash function
    size_t operator()(Bytes key) const { return HashBytes(key, hash_key); }
  };
  // The sorted ids of the clients that have read each tracked key. Some of these clients may have disconnected.
  using Readers = std::unordered_map<std::string, std::vector<uint64_t>, KeyHash, std::equal_to<>>;
  struct Prefix {                           // one prefix of broadcast mode, and the clients that track it
    std::map<uint64_t, Session*> sessions;  // clients that track keys with this prefix, by id
    // The keys with this prefix that were changed in this Turn, each with the id of the client that changed it last; 0
    // means no client.
    std::map<std::string, uint64_t, std::less<>> changed;  // keys changed in this Turn, and who changed each last
    bool has_overflowed = false;  // true: too many keys were changed, so Broadcast tells that all keys are invalid
  };

  void Invalidate(Readers::iterator row);  // tells all readers of a key, and forgets them
  void QueueForBroadcast(Bytes key);       // notes a changed key for Broadcast, at each of its prefixes
  void OverflowPrefixes();                 // forgets the noted keys; Broadcast then tells that all keys are invalid
  void RemovePrefixes(Session& session);   // removes the client from all prefixes
  // Sends an invalidation to the client, or to the client that its option REDIRECT names. `keys` is a RESP array of the
  // keys; a RESP null means all keys.
  void Tell(Session& session, Bytes keys);  // sends an invalidation to the client or its REDIRECT
  void TellAll(Session& session);           // tells the client (or its REDIRECT) that all its cached keys are invalid
  bool IsFarOverLimit() const;       // true: twice the limit is reached, so no key is added; see clients_to_tell_all_
  size_t MaxNameBytes() const;       // maximum of name_bytes_; above it, EnforceTableLimit forgets keys
  uint64_t RunningClientId() const;  // id of the client whose command runs now; 0: none

  const Parts parts_;                                    // the objects that the constructor got
  Readers readers_;                                      // for each key the ids of the clients that have read it
  std::map<std::string, Prefix, std::less<>> prefixes_;  // prefixes of broadcast mode, and the clients that track them
  std::map<size_t, size_t> prefix_lengths_;              // how many prefixes have each length
  bool has_changes_ = false;                             // true: Broadcast has invalidations to send
  // The ids of clients that have read keys which were not remembered, because the table had reached twice a limit.
  // Broadcast tells these clients to drop all keys.
  std::set<uint64_t> clients_to_tell_all_;  // clients to which Broadcast sends an invalidation of all keys
  size_t queued_bytes_ = 0;                 // memory of the changed keys at all prefixes
  size_t tracking_client_count_ = 0;        // number of clients with tracking on
  size_t name_bytes_ = 0;                   // total size of the remembered keys' names
  size_t item_count_ = 0;                   // number of pairs of a remembered key and a reader
  size_t rounds_over_limit_ = 0;            // how many calls of EnforceTableLimit in a row found too many keys
  Random random_;                           // chooses the keys to forget
};

}  // namespace respite
