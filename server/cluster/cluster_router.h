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

class ClusterRouter final : public SlotRouter {  // decides whether this node serves a request
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    const Keyspace& keyspace;  // tells whether a key exists
    const Cluster& cluster;    // this node and its view of the cluster
  };
  explicit ClusterRouter(const Parts& parts) : parts_(parts) {}

  void Check(const Request& request) const override;  // throws MOVED or another Refusal if not served; updates ASKING
  std::optional<int> CheckInScript(const Request& request) const override;  // the keys' slot; throws if not served here
  std::optional<int> SlotOf(const Command& command,  // the slot of the first key or shard channel; nullopt: no keys
                            std::span<const Bytes> arguments) const override;

  bool IsServedHere(const Request& request) const;  // whether this node serves all keys of the request

  // Returns the IP address or the host name of a node for replies to clients (cluster-preferred-endpoint-type). Returns
  // "?" for a host name that is not known, and nullopt for unknown-endpoint: clients then use the address to which they
  // have connected.
  std::optional<std::string> EndpointFor(const Session& session,  // IP or host name of `node` that the client is told
                                         const ClusterNode& node) const;
  static const std::string& IpFor(const Session& session,  // `node`'s IP for this client, which uses IPv4 or IPv6
                                  const ClusterNode& node);
  static int PortFor(const Session& session, const ClusterNode& node);  // TCP or TLS port, as the client uses

 private:
  struct RequestedKeys {  // the keys of one request or transaction: their slot, and whether they exist
    int db = 0;
    int slot = -1;                     // the slot of the first key or channel; -1: none
    Bytes first_key = {};              // the first key or channel of the request
    bool has_different_keys = false;   // the request names at least two different keys
    bool are_not_keys = false;         // the slot comes from arguments that are not keys but, for example, channels
    bool is_channel = false;           // the request names channels of sharded pub/sub
    bool crosses_slots = false;        // the keys are in several slots
    bool uses_other_db = false;        // MOVE, or COPY with DB: gets TRYAGAIN while the slot moves
    const SlotSet* imports = nullptr;  // slots that are imported from this client; null: it imports none
    bool has_keys_outside_imports = false;  // some keys are in slots outside `imports`
    int missing_count = 0;                  // keys that do not exist here; counted only while their slot moves
    int existing_count = 0;                 // keys that exist here; counted only while their slot moves
  };
  enum class Verdict : uint8_t {  // whether this node serves a request, or which error the client gets
    kHere,                        // this node serves the request
    kCross,                       // CROSSSLOT: the keys are in several slots
    kTryAgain,                    // TRYAGAIN: a slot moves, and not all keys are here (or MOVE, COPY DB)
    kAsk,                         // ASK: redirects this request to the node that imports the slot
    kMoved,                       // MOVED: redirects to the owner of the slot
    kDown,                        // CLUSTERDOWN: cluster_state is fail
    kDownForWrites,               // CLUSTERDOWN, for writes only (cluster-allow-reads-when-down)
    kUnserved,                    // CLUSTERDOWN: the slot has no owner, or is not one of RequestedKeys::imports
  };
  struct Route {                        // the decision where a request is served
    Verdict verdict = Verdict::kHere;   // served here, redirected to `node`, or refused
    const ClusterNode* node = nullptr;  // the node to which kAsk and kMoved redirect
    int slot = -1;                      // the slot of the keys; -1: no keys
  };

  bool IsServedByFastPath(const Request& request) const;  // true: served; false: not decided yet
  Route Find(const Request& request) const;
  void AddKeysOf(RequestedKeys& requested_keys,  // adds all keys and channels of `command`
                 const Command& command, std::span<const Bytes> arguments) const;
  void AddKey(RequestedKeys& requested_keys, Bytes key) const;  // adds one key or channel to requested_keys
  bool Exists(int db, Bytes key) const;                         // whether this node has the key, not expired
  int SelectedDbAfter(int db, const Command& command,           // the database selected after this command
                      std::span<const Bytes> arguments) const;
  Verdict DecideWhileDown(const Request& request,  // whether the request is still served while cluster_state is fail
                          const RequestedKeys& requested_keys) const;
  // Decides who serves a request for a slot that migrates or is imported: this node, another node (ASK), or none for
  // now (TRYAGAIN).
  std::optional<Route> DecideForMovingSlot(const Request& request,  // nullopt: as if no slot moved
                                           const RequestedKeys& requested_keys) const;
  Refusal RefusalOf(const Request& request, const Route& route) const;  // the error if not served here, such as MOVED

  const Parts parts_;  // the arguments of the constructor
};

}  // namespace respite
