// Resync: one full synchronisation of a replica: takes the snapshot of the primary, and puts it in the place of the
// data and of the history that were here.
//
// The head of the snapshot is judged before the old data goes: one that cannot be read changes nothing here. From the
// moment when the old data goes until all of the new is loaded, History::data says that there is none.
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
  // The snapshot has the history `id` up to `offset`.
  Resync(const Parts& parts, std::string id, int64_t offset);

  enum class Status : uint8_t { kMore, kWhole, kFailed };
  // Takes what it needs off the front.
  Status Take(Bytes& bytes);
  // The most that should be given to Take in one Turn.
  size_t ShareBytes() const;
  // Makes the snapshot the data of the server. May serve clients meanwhile. False: it failed; the data set is empty.
  // Requires: kWhole was returned.
  bool Install();
  // It does not go on. The data stays, unless it had to go before the snapshot came.
  void Abandon();

  // What was here before is gone, and its history with it.
  bool HasLetGo() const { return has_let_go_; }
  // Why it failed, for INFO; empty: the link broke.
  const std::string& failure() const override;
  const SnapshotReceiver& receiver() const { return receiver_; }

 private:
  // SnapshotTarget: judges the head, and passes everything on.
  bool Write(Bytes bytes) override;
  bool Finish() override;
  // Takes what is missing of the head off the front. False: no server of this version can read such a snapshot.
  bool TakeHead(Bytes& bytes);
  bool Fail(const std::string& text);
  // Chooses where the snapshot goes. False: it failed.
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
  SnapshotTarget* target_ = nullptr;  // null before the head has come
  std::string failure_;
  bool has_let_go_ = false;
};

}  // namespace respite
