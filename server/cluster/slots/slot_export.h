// SlotExport: sends slots to their new owner: the keys, then the changes since the snapshot, and then the ownership.
//
//   kConnecting ─► kEstablishing ─► kWaitingToSnapshot ─► kSnapshotting ─► kStreaming ─► kWaitingToPause ─► kPaused ─►
//   kGranted ─► kSuccess
//
//   CLUSTER SYNCSLOTS ESTABLISH …    the target hides the slots, and accepts the requests below
//   commands of the keys             a child writes them: the slots as they were at its fork
//   CLUSTER SYNCSLOTS SNAPSHOT-EOF mark
//   commands of the changes          collected by SlotChangeCollector since the fork
//   CLUSTER SYNCSLOTS ACK            answered after everything before it was applied
//   CLUSTER SYNCSLOTS PAUSED         writes are paused now: there are no more changes
//   CLUSTER SYNCSLOTS TAKEOVER       the target owns the slots from now on
//
// The target replies only to the CLUSTER SYNCSLOTS requests, not to the commands between them. Until TAKEOVER is sent,
// every error ends in kFailed, and the slots stay here. If the answer to TAKEOVER does not arrive, the bus may tell who
// owns the slots. Meanwhile, writes stay paused for longer than the 4 s after which the target refuses TAKEOVER.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "server/cluster/slots/slot_change_collector.h"
#include "server/cluster/slots/slot_job.h"
#include "server/net/link.h"
#include "server/replication/snapshot_pipe.h"
#include "server/storage/children.h"

namespace respite {

class Cluster;
struct Services;

class SlotExport final : public Link::User {  // sends slots of this node to their new owner
 public:
  // Prepares the export that `job` describes; Start begins it. Requires: this server is a node of a cluster.
  SlotExport(const Services& services, std::shared_ptr<SlotJob> job);
  ~SlotExport() override;
  SlotExport(const SlotExport&) = delete;
  SlotExport& operator=(const SlotExport&) = delete;

  void Start();          // connects to the target
  void Continue();       // takes the next step; called at the end of a turn, when all changes of the turn are known
  void CheckTimeouts();  // called ten times a second: requests ACKs; fails the export at a timeout or limit
  bool Cancel();         // ends the export for an operator; false: it had ended, or the target may own the slots
  void Fail(const std::string& message) { EndExport(SlotJob::State::kFailed, message); }
  const SlotJob& job() const { return *job_; }
  bool IsOver() const { return job_->IsOver(); }  // the export has ended, with or without success
  size_t BufferedBytes() const;  // bytes of the keys and changes that are still to be sent to the target

  // The functions of Link::User.
  void OnConnected() override;                       // sends the first requests to the target
  void OnReceived(Bytes bytes) override;             // handles answers of the target
  void OnEnded(const std::string& reason) override;  // fails the export, unless TAKEOVER was sent

 private:
  // The requests that an export sends to the target: AUTH, and CLUSTER SYNCSLOTS … (see the top of this file).
  enum class Request : uint8_t { kAuth, kEstablish, kSnapshotEof, kAck, kPaused, kTakeOver };

  Cluster& cluster() const;             // this server as a cluster node
  void SetState(SlotJob::State state);  // sets the state of the job, and when this state began
  void EndExport(SlotJob::State state,  // ends the export in this state
                 const std::string& message);
  void SendRequest(Request request,  // sends a request to the target, which will answer it
                   std::initializer_list<Bytes> words);
  void SendEstablish();                                    // sends CLUSTER SYNCSLOTS ESTABLISH
  void HandleAnswer(Bytes line);                           // handles a reply of the target, which is one line
  void HandlePositiveAnswer(Request request, Bytes line);  // handles a reply "+…"; `line` is without the "+"

  void Fork();                                 // starts the child that writes the snapshot, unless another child runs
  bool WriteSnapshot(ChildReporter& reporter,  // in the child: writes keys as commands, then `eof`; false: failed
                     Bytes eof) const;
  void ForwardSnapshotBytes(Bytes bytes);  // sends the snapshot from the child to the target
  void HandlePipeEnd(bool is_whole);  // the child's pipe has ended: begins to send changes; fails unless `is_whole`

  void SendChanges();  // sends the changes since the fork that were not sent yet
  // Does nothing while the target owes an answer. If many bytes of changes were sent since the last ACK was requested,
  // requests another ACK. If few were sent, pauses writes as soon as slot-migration-max-failover-repl-bytes allows
  // this.
  void PauseWritesIfCaughtUp();  // pauses writes if the target is nearly up to date
  void RequestAck();             // sends CLUSTER SYNCSLOTS ACK
  void PauseWrites();            // pauses writes and tells the target, unless another pause is active
  // The owner of the exported slots, as this node knows it.
  enum class Owner : uint8_t { kThisNode, kTarget, kOthers };  // kOthers: another node, several nodes or none
  Owner FindOwner() const;                                     // the owner of the exported slots
  // Ends the export if this node does not own the slots now, or has forgotten the target before TAKEOVER. The end is a
  // success if TAKEOVER was sent and the target owns the slots, otherwise a failure. Returns false if the export has
  // ended.
  bool EndUnlessOwner();                 // ends the export if this node does not own the slots now; false: it has ended
  void HandleTakeoverReply(Bytes line);  // reads "OK <epoch>", the reply to TAKEOVER

  const Services& services_;  // the other parts of this server
  const std::shared_ptr<SlotJob> job_;
  std::unique_ptr<Link> link_;
  std::string line_;                         // the beginning of an incomplete answer
  std::deque<Request> unanswered_requests_;  // requests without a reply yet; also SNAPSHOT-EOF, which the child sends
  std::optional<SnapshotPipe> pipe_;
  std::optional<SlotChangeCollector> changes_;  // changes to keys of the slots since the fork
  bool pauses_writes_ = false;                  // this export has paused writes of clients
  uint64_t seen_version_ = UINT64_MAX;          // version of the ClusterView at the last EndUnlessOwner
  size_t bytes_since_ack_ = 0;                  // bytes of changes since the last ACK was requested
  int ack_request_count_ = 0;                   // how many ACKs were requested so far
  int64_t last_progress_ms_ = 0;  // when the target last replied or read bytes, or had nothing to do (real time)
  int64_t entered_ms_ = 0;        // when the job entered its current state (real time)
  int64_t ack_requested_ms_ = 0;  // when an ACK was last requested (real time)
  size_t unsent_bytes_ = 0;       // unsent bytes of the link at the last CheckTimeouts
};

}  // namespace respite
