// SlotMigrations: whole slots on their way to another node (CLUSTER MIGRATESLOTS), or from there. Clients see a slot at
// its old owner until one moment, and at the new one from then on.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "base/random.h"
#include "server/cluster/slots/job_log.h"
#include "server/cluster/slots/slot_export.h"
#include "server/cluster/slots/slot_imports.h"

namespace respite {

class SlotMigrations {
 public:
  struct Parts {
    const Services& services;
    const LateBound<Network>& network;
    CallObservers& observers;
    const Role& role;
    uint64_t random_seed;
  };
  explicit SlotMigrations(const Parts& parts);
  // The server ends: closes its links, before the cluster and the event loop go.
  void Close();

  // Begins to send slots of ours, or waits for those that are sent already. Requires: a cluster.
  void Export(const SlotSet& slots, const NodeId& target);
  // A slot of the set that is being sent, or waits for it.
  std::optional<int> FindExported(const SlotSet& slots) const;
  bool IsExporting() const { return !exports_.empty(); }
  bool IsImporting() const { return !imports_.Empty(); }
  // False: there are none.
  bool CancelExports();

  SlotImports& imports() { return imports_; }
  // Those of this node, and what its primary receives; the latest first.
  std::vector<SlotJob> Jobs() const;

  // At the end of a Turn, when all its changes are in the journals.
  void EndTurn();
  // For the timer.
  void Tick();
  // A session closes.
  void Forget(Session& session) { imports_.Forget(session); }

 private:
  const Parts parts_;
  Random random_;
  JobLog log_;
  SlotImports imports_;
  std::list<SlotExport> exports_;  // one after the other
  int64_t ticked_at_ms_ = 0;
  bool is_closed_ = false;
};

}  // namespace respite
