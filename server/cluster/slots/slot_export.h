// SlotExport: sends slots to their new owner: the keys, then the changes since the snapshot, and then the ownership.
//
//   kConnecting ─► kEstablishing ─► kWaitingToSnapshot ─► kSnapshotting ─► kStreaming ─► kWaitingToPause ─► kPaused ─►
//   kGranted ─► kSuccess
//
//   CLUSTER SYNCSLOTS ESTABLISH …    the target hides the slots, and accepts the requests below
//   commands of the keys             a child writes them: the slots as they were at its fork
//   CLUSTER SYNCSLOTS SNAPSHOT-EOF mark
//   commands of the changes          collected by SlotChanges since the fork
//   CLUSTER SYNCSLOTS ACK            answered after everything before it was applied
//   CLUSTER SYNCSLOTS PAUSED         writes are paused now: there are no more changes
//   CLUSTER SYNCSLOTS TAKEOVER       the target owns the slots from now on
//
// The target answers only these requests of CLUSTER SYNCSLOTS. Until TAKEOVER is sent, every error ends in kFailed,
// and the slots stay here. If the answer to TAKEOVER does not arrive, the bus may tell who owns the slots. Writes stay
// paused meanwhile, longer than the target may take for the takeover.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "server/cluster/slots/slot_changes.h"
#include "server/cluster/slots/slot_job.h"
#include "server/net/link.h"
#include "server/replication/snapshot_pipe.h"
#include "server/storage/children.h"

namespace respite {

class Cluster;
struct Services;

class SlotExport final : public Link::User {  // sends slots to their new owner
 public:
  // Requires: a cluster.
  SlotExport(const Services& services, std::shared_ptr<SlotJob> job);
  ~SlotExport() override;
  SlotExport(const SlotExport&) = delete;
  SlotExport& operator=(const SlotExport&) = delete;

  void Start();  // connects to the target
  // Takes the next step of the migration. Called at the end of a turn, when the changes of the turn are in the
  // journals.
  void Continue();       // takes the next step, at the end of a turn
  void CheckTimeouts();  // called ten times a second
  void Cancel();         // for an operator
  void Fail(const std::string& message) { End(SlotJob::State::kFailed, message); }
  const SlotJob& job() const { return *job_; }
  bool IsOver() const { return job_->IsOver(); }
  size_t BufferedBytes() const;  // that wait to be sent

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

 private:
  enum class Request : uint8_t { kAuth, kEstablish, kSnapshotEof, kAck, kPaused, kTakeOver };

  Cluster& cluster() const;  // of this server
  void Enter(SlotJob::State state);
  void End(SlotJob::State state, const std::string& message);
  void Ask(Request request, std::initializer_list<Bytes> words);
  void SendEstablish();                                    // CLUSTER SYNCSLOTS ESTABLISH
  void HandleAnswer(Bytes line);                           // one line is one reply of the target
  void HandlePositiveAnswer(Request request, Bytes line);  // the line without its '+'

  void Fork();
  bool WriteSnapshot(ChildReporter& reporter, Bytes eof) const;  // writes the commands of the keys, then `eof`
  void ForwardSnapshotBytes(Bytes bytes);                        // from the child to the target
  void HandlePipeEnd(bool is_whole);                             // not whole: the child has failed

  void SendChanges();            // sends the changes since the fork that were not sent yet
  void PauseWritesIfCaughtUp();  // if there are many changes left, requests another ACK
  void AskForAck();              // sends CLUSTER SYNCSLOTS ACK
  void PauseWrites();            // of clients, and tells the target
  // Owner of the slots in this node's view.
  enum class Owner : uint8_t { kThisNode, kTarget, kOthers };
  Owner FindOwner() const;               // of the exported slots
  bool CheckOwnership();                 // false: lost the slots or the target, so the export has ended
  void HandleTakeoverReply(Bytes line);  // "OK <epoch>"

  const Services& services_;
  const std::shared_ptr<SlotJob> job_;
  std::unique_ptr<Link> link_;
  std::string line_;           // the beginning of an incomplete answer
  std::deque<Request> asked_;  // requests without a reply yet
  std::optional<SnapshotPipe> pipe_;
  std::optional<SlotChanges> changes_;  // since the fork
  bool holds_writes_ = false;           // writes of clients are paused
  uint64_t seen_version_ = UINT64_MAX;  // version of the view at the last CheckOwnership
  size_t sent_since_ack_ = 0;           // bytes of changes since the last ACK was requested
  int rounds_ = 0;                      // rounds of catching up
  int64_t progress_ms_ = 0;             // Pace time of the last answer, or of the last bytes sent
  int64_t entered_ms_ = 0;              // Pace time at which the state was entered
  int64_t asked_ack_ms_ = 0;            // Pace time of the last request for an ACK
  size_t unsent_ = 0;                   // unsent bytes at the last check
};

}  // namespace respite
