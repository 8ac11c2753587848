// ClusterRouter: sends clients to the node that serves their keys: MOVED, ASK, and the reasons why nobody does.
#pragma once

#include <string>

#include "base/refusal.h"
#include "server/cluster/cluster.h"
#include "server/execution/slot_router.h"

namespace respite {

class Clock;
class Keyspace;

class ClusterRouter final : public SlotRouter {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Keyspace& keyspace;
    const Cluster& cluster;
  };
  explicit ClusterRouter(const Parts& parts) : parts_(parts) {}

  void Check(const Request& request) const override;
  std::optional<int> CheckInScript(const Request& request) const override;
  std::optional<int> SlotOf(const Command& command, std::span<const Bytes> words) const override;

  // Whether this node serves the request.
  bool IsHere(const Request& request) const;

  // As clients are told of a node: by address or name, as cluster-preferred-endpoint-type says. Nothing: they know it.
  std::optional<std::string> EndpointFor(const Session& session, const ClusterNode& node) const;
  static const std::string& IpFor(const Session& session, const ClusterNode& node);
  static int PortFor(const Session& session, const ClusterNode& node);

 private:
  // What a request wants.
  struct Wish {
    int db = 0;
    int slot = -1;  // -1: no keys
    Bytes first_key = {};
    bool has_many = false;             // several keys
    bool has_no_keys = false;          // something else that has a slot
    bool is_channel = false;           // of sharded pub/sub
    bool crosses = false;              // they are in several slots
    bool joins_dbs = false;            // a key moves between databases
    const SlotSet* imports = nullptr;  // of the session
    bool strays = false;               // some are in none of these
    int missing = 0;                   // keys that are not here; counted while the slot moves
    int existing = 0;
  };
  enum class Verdict : uint8_t { kHere, kCross, kTryAgain, kAsk, kMoved, kDown, kDownForWrites, kUnserved };
  struct Way {
    Verdict verdict = Verdict::kHere;
    const ClusterNode* node = nullptr;  // of kAsk and kMoved
    int slot = -1;
  };

  bool IsPlainlyHere(const Request& request) const;
  Way Find(const Request& request) const;
  void Add(Wish& wish, const Command& command, std::span<const Bytes> words) const;
  void AddKey(Wish& wish, Bytes key) const;
  bool Exists(int db, Bytes key) const;
  int DbAfter(int db, const Command& command, std::span<const Bytes> words) const;
  Verdict WhileDown(const Request& request, const Wish& wish) const;
  // The slot is on its way to another node, or here. Nothing: as if it were not.
  std::optional<Way> WhileMoving(const Request& request, const Wish& wish) const;
  Refusal RefusalOf(const Request& request, const Way& way) const;

  const Parts parts_;
};

}  // namespace respite
