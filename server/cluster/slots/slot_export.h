// SlotExport: sends slots to the node that is to own them: their keys, then the changes since, and then the right to
// own them.
//
//   kConnecting ─► kEstablishing ─► kWaitingToSnapshot ─► kSnapshotting ─► kStreaming ─► kWaitingToPause ─► kPaused ─►
//   kGranted ─► kSuccess
//
//   CLUSTER SYNCSLOTS ESTABLISH …    the target hides the slots, and takes what follows
//   commands of the keys             a child writes them: the slots as they were at its fork
//   CLUSTER SYNCSLOTS SNAPSHOT-EOF mark
//   commands of the changes          collected by SlotChanges since the fork
//   CLUSTER SYNCSLOTS ACK            answered when everything before it was applied
//   CLUSTER SYNCSLOTS PAUSED         writes are held back now: there are no more changes
//   CLUSTER SYNCSLOTS TAKEOVER       the target owns the slots from now on
//
// The target answers these requests of CLUSTER SYNCSLOTS, and nothing else. Until TAKEOVER is sent every trouble ends
// in kFailed, and the slots stay. If the answer to TAKEOVER does not come, the bus may tell who owns them; writes are
// held back meanwhile, for longer than the target may take to take over.
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

class SlotExport final : public Link::User {
 public:
  struct Parts {
    const Services& services;
    const LateBound<Network>& network;
  };
  // Requires: a cluster.
  SlotExport(const Parts& parts, std::shared_ptr<SlotJob> job);
  ~SlotExport() override;
  SlotExport(const SlotExport&) = delete;
  SlotExport& operator=(const SlotExport&) = delete;

  void Start();
  // At the end of a Turn, when all its changes are in the journals.
  void Continue();
  // Ten times a second: what takes too long.
  void CheckTime();
  void Cancel();
  void Fail(const std::string& message) { End(SlotJob::State::kFailed, message); }
  const SlotJob& job() const { return *job_; }
  bool IsOver() const { return job_->IsOver(); }
  // What has to be sent.
  size_t BufferedBytes() const;

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

 private:
  enum class Request : uint8_t { kAuth, kEstablish, kSnapshotEof, kAck, kPaused, kTakeOver };

  Cluster& cluster() const;
  void Enter(SlotJob::State state);
  void End(SlotJob::State state, const std::string& message);
  void Ask(Request request, std::initializer_list<Bytes> words);
  void SendEstablish();
  void Answer(Bytes line);
  void Heard(Request request, Bytes line);

  void Fork();
  bool WriteSnapshot(ChildReporter& reporter, Bytes eof) const;
  void HandOn(Bytes bytes);
  void PipeEnded(bool is_whole);

  void SendChanges();
  void CatchUp();
  void AskForAck();
  void PauseWrites();
  // Who owns the slots, by what this node believes.
  enum class Owner : uint8_t { kThisNode, kTarget, kOthers };
  Owner FindOwner() const;
  // False: it has ended, because the slots are not ours any more.
  bool StillOwns();
  void TakeIn(Bytes line);

  const Parts parts_;
  const std::shared_ptr<SlotJob> job_;
  std::unique_ptr<Link> link_;
  std::string line_;  // the beginning of an answer
  std::deque<Request> asked_;
  std::optional<SnapshotPipe> pipe_;
  std::optional<SlotChanges> changes_;  // from the fork on
  bool holds_writes_ = false;
  uint64_t seen_version_ = UINT64_MAX;  // of the view
  size_t sent_since_ack_ = 0;           // changes behind the last ACK that was asked for
  int rounds_ = 0;                      // of catching up
  int64_t progress_ms_ = 0;             // of the Pace: when something was heard, or sent
  int64_t entered_ms_ = 0;              // the state
  int64_t asked_ack_ms_ = 0;
  size_t unsent_ = 0;  // at the last look
};

}  // namespace respite
