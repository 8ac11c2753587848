// ServerClusterHost: gives the cluster node access to the server around it: replication, data, clients and files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "persistence/file_system.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/nodes_text.h"

namespace respite {

struct Services;

class ServerClusterHost final : public ClusterHost {  // gives the cluster node access to its server
 public:
  explicit ServerClusterHost(const Services& services) : services_(services) {}

  // Locks nodes.conf and returns its content. Creates the file if there is none; the content is then empty. Fails with
  // the reason.
  Result<std::string, std::string> OpenNodesFile();  // locks nodes.conf, and returns its content; fails with the reason

  // The functions of ClusterHost.
  int64_t Offset() const override;                    // replication offset of this server, for elections
  std::optional<int64_t> DataAgeMs() const override;  // ms since the link's end or last input; nullopt: never linked
  void HandleNewEpochOfPrimary() override;            // until the link is up, elections prefer linked replicas
  bool IsLinked() const override;                     // true: this replica receives its primary's stream now
  bool HasWholeData() const override;                 // the data is complete; false: this replica must not be elected
  void Follow(const std::string& ip, int port,        // makes this server a replica of ip:port
              std::optional<int64_t> shared_until) override;
  void Promote() override;                                            // makes this server a primary
  bool HasKeysInSlot(int slot) const override;                        // whether any database has a key of this slot
  bool HasKeys() const override;                                      // whether any database has a key
  void DeleteKeysInSlot(int slot, const ClusterView& view) override;  // deletes now, or after a load or slow script
  void DeleteAllKeys() override;  // deletes all keys; begins a new replication history
  void RunNowOrAfterLongTask(std::function<void()> task) override;     // runs `task` now, or when a load or script ends
  bool IsInLongTask() const override;                                  // true: a load or a slow script runs
  void PauseWrites() override;                                         // keeps clients from writing until ResumeWrites
  void ResumeWrites() override;                                        // ends PauseWrites: clients may write again
  void Deliver(PacketType type, const PublishBody& message) override;  // publishes to this server's clients
  void OnTopologyChanged() override { has_topology_changed_ = true; }  // TakeTopologyChange will return true
  bool Save(const ClusterView& view, Durably durably) override;        // writes nodes.conf; false: it failed

  void FinishSave();  // called by the timer: syncs the folder of nodes.conf a second after a save that was not synced
  // Returns true if OnTopologyChanged was called since the last call. Blocked clients may then wait for keys that
  // another node serves now.
  bool TakeTopologyChange() {  // true: OnTopologyChanged was called; clears it
    return std::exchange(has_topology_changed_, false);
  }

 private:
  void DeleteKeysInSlotNow(int slot, const ClusterView& view);  // deletes its keys, unless this node owns or imports it
  void DeleteKeysInSlotNow(int db, int slot);                   // deletes the keys of a slot in one database
  std::string Path() const;
  IoError Write(const std::string& text, Durably durably);  // makes `text` the content of nodes.conf
  IoError SyncRename();                   // syncs the folder, so that a crash does not undo the rename of nodes.conf
  bool StopServerOnError(IoError error);  // if `error` is an error, ends the server and returns false

  const Services& services_;              // the other parts of this server
  std::unique_ptr<File> lock_;            // the lock on nodes.conf; null: OpenNodesFile was not called
  bool has_topology_changed_ = false;     // OnTopologyChanged was called since TakeTopologyChange
  bool is_rename_unsynced_ = false;       // true: the rename of nodes.conf may not be on disk yet
  int64_t first_unsynced_rename_ms_ = 0;  // when nodes.conf was first replaced since its folder was synced (real time)
};

}  // namespace respite
