// Resync: one full synchronisation of a replica. It receives the primary's snapshot and replaces the data and the
// history of this server with it.
//
// The head of the snapshot is checked before the old data is dropped, so an unreadable snapshot changes nothing here.
// History::data says that there is no data until all new data is loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "server/replication/direct_load.h"
#include "server/replication/snapshot_file.h"
#include "server/replication/snapshot_receiver.h"

namespace respite {

class Replicas;
class ReplicationStream;
struct Services;

class Resync final : private SnapshotTarget {
 public:
  struct Parts {
    const Services& services;
    Replicas& replicas;
    ReplicationStream& stream;
  };
  // Creates a resynchronisation whose snapshot contains the history `id` up to `offset`.
  Resync(const Parts& parts, std::string id, int64_t offset);

  enum class Status : uint8_t { kMore, kWhole, kFailed };
  // Removes the bytes that it uses from the front of `bytes`.
  Status Take(Bytes& bytes);
  // Returns the maximum number of bytes to pass to Take in one turn.
  size_t ShareBytes() const;
  // Makes the snapshot the data of the server. May serve clients meanwhile. Returns false if it failed; the keyspace is
  // then empty. Requires: Take returned kWhole.
  bool Install();
  // Ends an incomplete synchronisation. Keeps the old data, unless it had to be dropped before the snapshot arrived.
  void Abandon();

  // Returns whether the old data and its history have been dropped.
  bool HasLetGo() const { return has_let_go_; }
  // Returns why the synchronisation failed, for INFO. Empty if the link broke.
  const std::string& failure() const override;
  const SnapshotReceiver& receiver() const { return receiver_; }

 private:
  // SnapshotTarget: checks the head, and passes all bytes on.
  bool Write(Bytes bytes) override;
  bool Finish() override;
  // Completes the head from the front of `bytes`. Returns false if no server of this version can read the snapshot.
  bool TakeHead(Bytes& bytes);
  bool Fail(const std::string& text);
  // Chooses the destination of the snapshot. Returns false if it failed.
  bool Begin();
  bool LoadsDirectly() const;
  bool BeginFile();
  void BeginDirectLoad();
  void LetGo();
  void KillChild();
  void FlushOldData();
  bool LoadFile();
  void TellOfNewData();
  void TurnJournalOn();

  const Parts parts_;
  const std::string id_;
  const int64_t offset_;
  SnapshotReceiver receiver_;
  std::optional<SnapshotFile> file_;
  std::optional<DirectLoad> direct_;
  std::string head_;                  // of the snapshot, while it is not complete
  SnapshotTarget* target_ = nullptr;  // null before the head has arrived
  std::string failure_;
  bool has_let_go_ = false;
};

}  // namespace respite
