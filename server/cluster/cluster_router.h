// ClusterRouter: checks whether this node serves the keys of a request. If not, refuses the request with MOVED, ASK,
// or the reason why no node serves them.
#pragma once

#include <string>

#include "base/refusal.h"
#include "server/cluster/cluster.h"
#include "server/execution/slot_router.h"
#include "server/runtime/env.h"

namespace respite {

class Keyspace;

class ClusterRouter final : public SlotRouter {
 public:
  struct Parts {
    const Env& env;
    const Keyspace& keyspace;
    const Cluster& cluster;
  };
  explicit ClusterRouter(const Parts& parts) : parts_(parts) {}

  void Check(const Request& request) const override;
  std::optional<int> CheckInScript(const Request& request) const override;
  std::optional<int> SlotOf(const Command& command, std::span<const Bytes> words) const override;

  bool IsHere(const Request& request) const;

  // Returns the address or name by which clients are told of a node (cluster-preferred-endpoint-type). Returns nothing
  // for unknown-endpoint: clients then use the address that they know.
  std::optional<std::string> EndpointFor(const Session& session, const ClusterNode& node) const;
  static const std::string& IpFor(const Session& session, const ClusterNode& node);
  static int PortFor(const Session& session, const ClusterNode& node);

 private:
  // The slot and keys that a request needs.
  struct Wish {
    int db = 0;
    int slot = -1;  // -1: no keys
    Bytes first_key = {};
    bool has_many = false;             // several different keys
    bool has_no_keys = false;          // its arguments with a slot are no keys
    bool is_channel = false;           // a channel of sharded pub/sub
    bool crosses = false;              // the keys are in several slots
    bool joins_dbs = false;            // a key moves between databases
    const SlotSet* imports = nullptr;  // slots that the session imports; null: none
    bool strays = false;               // some keys are not in `imports`
    int missing = 0;                   // absent keys; counted only while the slot moves
    int existing = 0;
  };
  enum class Verdict : uint8_t { kHere, kCross, kTryAgain, kAsk, kMoved, kDown, kDownForWrites, kUnserved };
  struct Way {
    Verdict verdict = Verdict::kHere;
    const ClusterNode* node = nullptr;  // target of kAsk and kMoved
    int slot = -1;
  };

  bool IsPlainlyHere(const Request& request) const;
  Way Find(const Request& request) const;
  void Add(Wish& wish, const Command& command, std::span<const Bytes> words) const;
  void AddKey(Wish& wish, Bytes key) const;
  bool Exists(int db, Bytes key) const;
  int DbAfter(int db, const Command& command, std::span<const Bytes> words) const;
  Verdict WhileDown(const Request& request, const Wish& wish) const;
  // Decides for a slot that is migrating or importing. Returns nothing if the slot is treated like others.
  std::optional<Way> WhileMoving(const Request& request, const Wish& wish) const;
  Refusal RefusalOf(const Request& request, const Way& way) const;

  const Parts parts_;
};

}  // namespace respite
