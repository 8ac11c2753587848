// Sends anything that a node of the cluster may send while it moves slots to this node, in pieces. The server must
// survive, keep its tables and values consistent, and never keep keys of slots that another node owns. The first byte
// selects how the import ends: the source closes the connection, or reports that it has sent everything and hands the
// slots over.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/str_cat.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/nodes_text.h"
#include "server/cluster/slots/slot_migrations.h"
#include "tests/fuzz/fuzzed_server.h"
#include "tests/fuzz/pieces.h"

namespace respite {
namespace {

constexpr int kOfferedSlots = 100;

class ImportTarget final : public FuzzedClient {
 public:
  ImportTarget() : FuzzedClient("cluster-enabled yes\n") {
    DisableDangerousCommands();
    ClusterMode& cluster = server().services().cluster;
    if (!cluster.ReadNodesFile().ok() || cluster.OpenWith(kNodes, ClusterMode::NodesFileTrust::kOwn)) std::abort();
    nodes_ = Nodes();
  }

  // Makes another node offer its first slots.
  void Establish() {
    Connect();
    Feed(
        StrCat("CLUSTER SYNCSLOTS ESTABLISH SOURCE bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb NAME "
               "cccccccccccccccccccccccccccccccccccccccc SLOTSRANGE 0 ",
               kOfferedSlots - 1, "\r\n"));
    if (!server().services().slot_migrations.IsImporting()) std::abort();
  }
  void HandOver() {
    for (const char* step : {"ACK", "SNAPSHOT-EOF", "PAUSED", "FAILOVER-GRANTED"})
      Feed(std::string("CLUSTER SYNCSLOTS ") + step + "\r\n");
  }
  // Closes the source's connection. Returns whether the server is as it was before Establish.
  bool End() {
    Disconnect();
    for (int i = 0; i < 100 && !server().services().data.dataset.keyspace.hidden().IsEmpty(); ++i) Tick(1000);
    if (!server().services().data.dataset.keyspace.hidden().IsEmpty() ||
        server().services().slot_migrations.IsImporting())
      std::abort();
    Check();
    CheckOwners();
    server().services().clients.pause.End();
    Run("FLUSHALL\r\n");
    ExpectNoKeys();
    ClusterView& view = server().services().cluster.cluster()->view();
    ClusterNode* const source = view.Find(*NodeId::Parse("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"));
    if (source == nullptr) return false;
    for (int slot = 0; slot < kOfferedSlots; ++slot) view.Assign(slot, source);
    return Nodes() == nodes_;
  }

 private:
  static constexpr char kNodes[] =
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 127.0.0.1:2@10002 myself,master - 0 0 1 connected 8192-16383\n"
      "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 127.0.0.1:1@10001 master - 0 0 2 connected 0-8191\n"
      "vars currentEpoch 2 lastVoteEpoch 0\n";

  // Returns the slots and roles of all nodes. Epochs are left out because they may grow.
  std::string Nodes() {
    std::string text;
    ClusterView& view = server().services().cluster.cluster()->view();
    for (const auto& [id, node] : view.nodes())
      text += id.String() + " " + FlagsText(*node) + " " + SlotsText(view, *node) + "\n";
    return text;
  }
  void CheckOwners() {
    const ClusterView& view = server().services().cluster.cluster()->view();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const ClusterNode* const owner = view.Owner(slot);
      if (server().services().data.dataset.keyspace.CountKeysInSlot(slot) != 0 && owner != nullptr &&
          !owner->IsMyself())
        std::abort();
    }
  }

  std::string nodes_;
};

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  static std::unique_ptr<ImportTarget> target;
  if (target == nullptr) target = std::make_unique<ImportTarget>();
  const CutInput input({reinterpret_cast<const char*>(data), size});
  target->Establish();
  for (Bytes piece : input.pieces) target->Feed(piece);
  if (size != 0 && data[0] % 2 == 1) target->HandOver();
  if (!target->End()) target.reset();  // for example after CLUSTER RESET
  return 0;
}
