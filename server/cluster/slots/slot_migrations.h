// SlotMigrations: moves whole slots to other nodes (CLUSTER MIGRATESLOTS), and receives slots from other nodes. Clients
// see a slot at its old owner until one moment, and at the new owner from then on.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "base/random.h"
#include "server/cluster/slots/slot_export.h"
#include "server/cluster/slots/slot_imports.h"
#include "server/cluster/slots/slot_job.h"

namespace respite {

class SlotMigrations {  // moves whole slots to and from other nodes
 public:
  SlotMigrations(const Services& services, uint64_t random_seed);
  void Close();  // closes the links; called before the cluster and the event loop are destroyed

  // Sends slots of this node to another node, after the exports that are queued already. Requires: a cluster.
  void Export(const SlotSet& slots, const NodeId& target);          // queues an export (CLUSTER MIGRATESLOTS)
  std::optional<int> FindExportedSlot(const SlotSet& slots) const;  // one of `slots` that an export moves; or nothing
  bool IsExporting() const { return !exports_.empty(); }            // any export is queued or runs
  bool IsImporting() const { return !imports_.IsEmpty(); }          // any import is under way
  bool CancelExports();  // cancels all exports, queued ones too; false: there was none

  SlotImports& imports() { return imports_; }  // the part that receives slots from other nodes
  // Returns the slot migrations of this node, the latest first. On a replica, the imports of its primary come first.
  std::vector<SlotJob> Jobs() const;

  // Continues imports, and starts or continues the first export. Called at the end of a turn, when the changes of the
  // turn are in the journals.
  void EndTurn();  // continues all imports and the first export; called after each event loop turn
  // Checks the timeouts, and trims the log of migrations to cluster-slot-migration-log-max-len. Called by the timer.
  void Tick();
  void Forget(Session& session) { imports_.Forget(session); }  // called when a session closes: its import fails

 private:
  const Services& services_;  // the other parts of this server
  Random random_;             // for the names of migrations
  SlotJobLog log_;
  SlotImports imports_;            // receives slots that other nodes send
  std::list<SlotExport> exports_;  // exports in their order; only the first one runs, the others are queued
  int64_t ticked_at_ms_ = 0;       // when Tick last checked the timeouts (real time)
  bool is_closed_ = false;         // Close was called
};

}  // namespace respite
