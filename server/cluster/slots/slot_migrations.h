// SlotMigrations: moves whole slots to other nodes (CLUSTER MIGRATESLOTS), and receives slots from other nodes, also on
// its own request (CLUSTER MIGRATION IMPORT). Until the takeover, clients find all keys of a slot at its old owner, and
// then all at the new one.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "base/random.h"
#include "server/clients/acl/user.h"
#include "server/cluster/slots/slot_export.h"
#include "server/cluster/slots/slot_imports.h"
#include "server/cluster/slots/slot_job.h"
#include "server/cluster/slots/slot_request.h"

namespace respite {

class SlotMigrations {  // moves whole slots to and from other nodes
 public:
  SlotMigrations(const Services& services, uint64_t random_seed);
  void Close();  // closes the links; called before the cluster and the event loop are destroyed

  // Queues an export, which starts when the exports before it have ended. Requires: a cluster.
  void Export(const SlotSet& slots, const NodeId& target);  // queues an export (CLUSTER MIGRATESLOTS)
  // Queues an export that the target has requested under this name (CLUSTER SYNCSLOTS REQUEST).
  void Export(const SlotSet& slots, const NodeId& target,  // queues an export (CLUSTER SYNCSLOTS REQUEST)
              const std::string& name);
  // --- Requests of a node of Redis that imports slots from this node. Each may throw a Refusal.

  const User& internal_user() const { return internal_user_; }  // the user of nodes of Redis that have logged in
  void SetNodeOf(const Session& session, const NodeId& node) { targets_[&session] = node; }  // handles CONF NODE-ID
  // Handles SYNC. Requires: this node owns the slots.
  void Sync(Session& session, const std::string& name, const SlotSet& slots);  // handles SYNC: begins an export
  void SendSnapshotTo(Session& session, Bytes name);                           // handles RDBCHANNEL
  void HandleAck(const Session& session, Bytes state, int64_t offset);         // handles ACK

  // Requests the slots from their owner. Returns the name of the migration. Requires: a cluster, and FindRequest() is
  // null.
  std::string Import(const SlotSet& slots, const NodeId& source);  // requests the slots; returns the migration's name
  const SlotJob* FindRequest() const;  // the import that this node has requested and that runs; null: none
  // Cancels the export or the requested import with this name; an empty name: all of them.
  size_t Cancel(Bytes name);  // returns how many migrations were cancelled (CLUSTER MIGRATION CANCEL)
  std::optional<int> FindExportedSlot(const SlotSet& slots) const;  // one of `slots` that an export moves; or nothing
  bool IsExporting() const { return !exports_.empty(); }            // any export is queued or runs
  bool IsExporting(Bytes name) const;                               // true: an export of this name is queued or runs
  bool IsImporting() const { return !imports_.IsEmpty(); }          // any import is under way
  bool CancelExports();  // cancels all exports, queued ones too; false: none could be cancelled

  SlotImports& imports() { return imports_; }  // the part that receives slots from other nodes
  // Returns the slot migrations of this node, the latest first. On a replica, the imports of its primary come first.
  std::vector<SlotJob> Jobs() const;

  // Continues the imports, begins a requested import that is still queued, and starts or continues the first export
  // (the others wait for it). Called at the end of a turn, because the export sends the changes that the turn has put
  // into the journals.
  void EndTurn();  // continues all imports and the first export; called after each event loop turn
  // Checks the timeouts, and trims the log of migrations to cluster-slot-migration-log-max-len. Called by the timer.
  void Tick();
  void Forget(Session& session);  // called when a session closes: its import or export fails

 private:
  SlotJob NewJob(const std::string& name, SlotJob::Operation operation,  // makes a queued job without source and target
                 const SlotSet& slots) const;

  const Services& services_;  // the other parts of this server
  User internal_user_;        // may only use what a node of Redis needs to import slots from this node
  Random random_;             // for the names of migrations
  SlotJobLog log_;
  SlotImports imports_;                       // receives slots that other nodes send
  std::optional<SlotRequest> request_;        // the last import that this node has requested; nullopt: none yet
  std::map<const Session*, NodeId> targets_;  // which node each session belongs to (CONF NODE-ID of Redis)
  std::list<SlotExport> exports_;             // exports in their order; only the first one runs, the others are queued
  int64_t ticked_at_ms_ = 0;                  // when Tick last checked the timeouts (real time)
  bool is_closed_ = false;                    // Close was called
};

}  // namespace respite
