// ServerClusterHost: connects the cluster to the server: its replication, data, clients and files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "persistence/file_system.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/nodes_text.h"

namespace respite {

struct Services;

class ServerClusterHost final : public ClusterHost {
 public:
  explicit ServerClusterHost(const Services& services) : services_(services) {}

  // Opens (or creates) and locks nodes.conf. Returns its content, which is empty if it was just created. Fails with the
  // reason.
  Result<std::string, std::string> OpenFile();

  // ClusterHost
  int64_t Offset() const override;
  int64_t DataAgeMs() const override;
  bool IsLinked() const override;
  bool HasWholeData() const override;
  void Follow(const std::string& ip, int port, History::Owner owner) override;
  void Promote() override;
  bool HasKeysIn(int slot) const override;
  bool HasKeys() const override;
  void DeleteKeysIn(int slot, const ClusterView& view) override;
  void DeleteAllKeys() override;
  void PauseWrites() override;
  void ResumeWrites() override;
  void Deliver(PacketType type, const PublishBody& message) override;
  void OnTopologyChanged() override { has_new_topology_ = true; }
  bool Save(const ClusterView& view, Durably durably) override;

  // Called by the timer: a second after Save, makes sure that the new file is on disk.
  void FinishSave();
  // Returns whether the topology has changed since the last call, so that blocked clients may wait for keys of moved
  // slots.
  bool TakeNewTopology() { return std::exchange(has_new_topology_, false); }

 private:
  void WhenNobodyLoads(std::function<void()> task);
  void GiveUpKeysIn(int slot, const ClusterView& view);
  void GiveUpKeysIn(int db, int slot);
  std::string Path() const;
  IoError Write(const std::string& text, Durably durably);
  IoError SyncName();
  // Ends the server if there is an error. Returns false then.
  bool EndServerIf(IoError error);

  const Services& services_;
  std::unique_ptr<File> lock_;
  bool has_new_topology_ = false;
  bool is_name_unsynced_ = false;  // the rename of nodes.conf may not be on disk yet
  int64_t renamed_at_ms_ = 0;
};

}  // namespace respite
