// ClusterRouter: checks whether this node serves the keys of a request. If not, ClusterRouter refuses the request with
// MOVED, ASK, or the reason why no node serves the keys.
#pragma once

#include <string>

#include "base/refusal.h"
#include "server/cluster/cluster.h"
#include "server/execution/slot_router.h"
#include "server/runtime/env.h"

namespace respite {

class Keyspace;

class ClusterRouter final : public SlotRouter {  // checks whether this node serves a request
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    const Keyspace& keyspace;  // tells whether a key exists
    const Cluster& cluster;    // this node and its view of the cluster
  };
  explicit ClusterRouter(const Parts& parts) : parts_(parts) {}

  void Check(const Request& request) const override;  // throws MOVED, ASK or another Refusal if not served here
  std::optional<int> CheckInScript(const Request& request) const override;  // like Check; returns the keys' slot
  std::optional<int> SlotOf(const Command& command,  // the slot of the keys in the arguments; nothing: no keys
                            std::span<const Bytes> arguments) const override;

  bool IsServedHere(const Request& request) const;  // this node serves all keys of the request

  // Returns the IP address or host name of a node for replies to clients (cluster-preferred-endpoint-type). Returns
  // nothing for unknown-endpoint: clients then use the address to which they have connected.
  std::optional<std::string> EndpointFor(const Session& session,  // IP or host name that the client is told
                                         const ClusterNode& node) const;
  static const std::string& IpFor(const Session& session, const ClusterNode& node);  // IPv4 or IPv6, like the client's
  static int PortFor(const Session& session, const ClusterNode& node);  // for clients; the TLS port for a TLS client

 private:
  struct RequestedKeys {  // which keys a request needs
    int db = 0;
    int slot = -1;                     // the slot of the first key; -1: no keys
    Bytes first_key = {};              // the first key of the request
    bool has_different_keys = false;   // the request has several different keys
    bool are_not_keys = false;         // the arguments that choose the slot are not keys but, for example, channels
    bool is_channel = false;           // the request names channels of sharded pub/sub
    bool crosses_slots = false;        // the keys are in several slots
    bool uses_other_db = false;        // the request moves or copies a key to another database
    const SlotSet* imports = nullptr;  // slots that this session sends to this node; null: none
    bool has_keys_outside_imports = false;  // some keys are in slots that are not in `imports`
    int missing_count = 0;                  // requested keys that do not exist; counted only while the slot moves
    int existing_count = 0;                 // requested keys that exist; counted only while the slot moves
  };
  enum class Verdict : uint8_t { kHere, kCross, kTryAgain, kAsk, kMoved, kDown, kDownForWrites, kUnserved };
  struct Route {                        // where a request is served
    Verdict verdict = Verdict::kHere;   // served here, by `node`, or not at all
    const ClusterNode* node = nullptr;  // target of kAsk and kMoved
    int slot = -1;
  };

  bool IsServedByFastPath(const Request& request) const;  // one key, in a slot of this node that does not move
  Route Find(const Request& request) const;
  void AddKeysOf(RequestedKeys& requested_keys,  // adds all keys and channels of a command
                 const Command& command, std::span<const Bytes> arguments) const;
  void AddKey(RequestedKeys& requested_keys, Bytes key) const;  // adds a key of the request
  bool Exists(int db, Bytes key) const;                         // the key exists and has not expired
  int SelectedDbAfter(int db, const Command& command,           // the selected database after this command
                      std::span<const Bytes> arguments) const;
  Verdict DecideWhileDown(const Request& request,  // called while cluster_state is fail
                          const RequestedKeys& requested_keys) const;
  // Decides where a request for a slot that migrates or is imported is served. Returns nothing if the request is
  // treated like one for any other slot.
  std::optional<Route> DecideForMovingSlot(const Request& request,  // nothing: treated like any other slot
                                           const RequestedKeys& requested_keys) const;
  Refusal RefusalOf(const Request& request, const Route& route) const;  // the error if it is not served here: MOVED …

  const Parts parts_;  // the arguments of the constructor
};

}  // namespace respite
