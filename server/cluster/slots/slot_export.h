// SlotExport: sends slots to their new owner: the keys, then the changes since the snapshot, and then the ownership.
//
//   kConnecting ─► kAuthenticating ─► kEstablishing ─► kWaitingToSnapshot ─► kSnapshotting ─► kStreaming ─►
//   kWaitingToPause ─► kPaused ─► kGranted ─► kSuccess
//
// The protocol is the one of Valkey 9, so either node may be a Valkey server. Both nodes send requests. The target
// replies only to AUTH and ESTABLISH.
//
//   source                                   target
//   CLUSTER SYNCSLOTS ESTABLISH …         ►  hides the slots
//                                         ◄  +OK
//   CLUSTER SYNCSLOTS ACK                 ►  from now on the target may send requests
//   commands of the keys                  ►  a child writes them: the slots as they were at its fork
//   CLUSTER SYNCSLOTS SNAPSHOT-EOF        ►
//                                         ◄  CLUSTER SYNCSLOTS REQUEST-PAUSE: the snapshot was applied
//   commands of the changes               ►  collected by SlotChangeCollector since the fork
//   CLUSTER SYNCSLOTS PAUSED              ►  writes are paused now: there are no more changes
//                                         ◄  CLUSTER SYNCSLOTS REQUEST-FAILOVER: all changes were applied
//   CLUSTER SYNCSLOTS FAILOVER-GRANTED    ►  claims the slots, tells the cluster, and closes the connection
//
// A target that is a node of Redis connects to this node instead (SlotSourceLink has that conversation). Its requests
// run as commands of two sessions, and reach the export by Sync, SendSnapshotTo and HandleAck. Then `link_` and
// `snapshot_link_` send to these sessions. STREAM-EOF stands for PAUSED and FAILOVER-GRANTED.
//
// Both send CLUSTER SYNCSLOTS ACK each second, except the source during the snapshot. A node fails the migration when
// the other is silent for repl-timeout. Until FAILOVER-GRANTED is sent, every error ends in kFailed, and the slots stay
// here. Then the bus tells who owns the slots. Meanwhile, writes stay paused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/late_bound.h"
#include "protocol/request_parser.h"
#include "server/cluster/slots/session_link.h"
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

  void Start();  // connects to the target
  // --- Requests of a target that is a node of Redis. Each may throw a Refusal.
  void Sync(Session& main);                     // handles SYNC: begins the export; instead of Start
  void SendSnapshotTo(Session& session);        // handles RDBCHANNEL: begins the snapshot, which this session gets
  void HandleAck(Bytes state, int64_t offset);  // handles ACK: how many bytes of the changes the target has applied
  bool IsMain(const Session& session) const;    // true: the session that has sent SYNC
  void Forget(const Session& session);          // called when a session closes: fails the export of which it is a part

  void Continue();       // takes the next step; called at the end of a turn, when all changes of the turn are known
  void CheckTimeouts();  // called ten times a second: requests ACKs; fails the export at a timeout or limit
  bool Cancel();         // ends the export for an operator; false: it had ended, or the target may own the slots
  void Fail(const std::string& message) { EndExport(SlotJob::State::kFailed, message); }
  const SlotJob& job() const { return *job_; }
  bool IsOver() const { return job_->IsOver(); }  // the export has ended, with or without success
  size_t BufferedBytes() const;  // bytes of the keys and changes that are still to be sent to the target

  // The functions of Link::User.
  void OnConnected() override;                       // sends AUTH or ESTABLISH to the target
  void OnReceived(Bytes bytes) override;             // handles replies and requests of the target
  void OnEnded(const std::string& reason) override;  // fails the export, unless FAILOVER-GRANTED was sent

 private:
  Cluster& cluster() const;             // this server as a cluster node
  void SetState(SlotJob::State state);  // sets the state of the job, and when this state began
  void EndExport(SlotJob::State state,  // ends the export in this state
                 const std::string& message);
  void SendEstablish();                              // sends CLUSTER SYNCSLOTS ESTABLISH
  void SendStep(Bytes step);                         // sends CLUSTER SYNCSLOTS and this word
  void SendAck();                                    // sends CLUSTER SYNCSLOTS ACK
  bool IsAwaitingReply() const;                      // true: the next bytes are the reply to AUTH or ESTABLISH
  void ReadReply(Bytes& bytes);                      // handles the reply, if complete; removes it from `bytes`
  void ReadRequests(Bytes bytes);                    // handles the requests of the target
  void HandleRequest(std::span<const Bytes> words);  // handles one request of the target
  bool HasSentSnapshot() const;                      // true: the target may have the whole snapshot
  void HandlePauseRequest();                         // handles REQUEST-PAUSE
  void EndSnapshotLink();                            // closes the connection of the snapshot after its output, if any
  void Grant(Bytes step);                            // sends this word: the target may own the slots now
  void HandleFailoverRequest();                      // handles REQUEST-FAILOVER: the target may own the slots now

  void Fork();  // starts the child that writes the snapshot, unless another child runs
  bool WriteSnapshot(ChildReporter& reporter) const;  // in the child: writes keys as commands; false: failed
  void WriteFunctions(RequestOutput& out) const;      // in the child: writes FUNCTION RESTORE, if there are functions
  Link& SnapshotLink();                               // where the snapshot is sent
  void ForwardSnapshotBytes(Bytes bytes);             // sends the snapshot from the child to the target
  void ContinueReading();                             // resumes the paused pipe if there is room for more output
  void HandlePipeEnd(bool is_whole);  // the child's pipe has ended: begins to send changes; fails unless `is_whole`

  void SendChanges();  // sends the changes since the fork that were not sent yet
  // Pauses writes and tells the target, if slot-migration-max-failover-repl-bytes allows this now, and if no other
  // pause is active.
  void PauseWritesIfCaughtUp();  // pauses writes if few bytes are unsent
  // The owner of the exported slots, as this node knows it.
  enum class Owner : uint8_t { kThisNode, kTarget, kOthers };  // kOthers: another node, several nodes or none
  Owner FindOwner() const;                                     // the owner of the exported slots
  // Ends the export if this node does not own the slots now, or has forgotten the target before kGranted. The end is a
  // success if the target was granted the slots and owns them, otherwise a failure. Returns false if the export has
  // ended.
  bool EndUnlessOwner();  // ends the export if this node does not own the slots now; false: it has ended

  const Services& services_;  // the other parts of this server
  const std::shared_ptr<SlotJob> job_;
  std::unique_ptr<Link> link_;
  // Only for a target that is a node of Redis.
  bool is_for_redis_ = false;                   // true: the target is a node of Redis
  SessionLink* main_session_ = nullptr;         // link_, while it sends to a session; null: it does not
  std::unique_ptr<SessionLink> snapshot_link_;  // sends the snapshot; null: link_ does, or there is none now
  int64_t sent_bytes_ = 0;                      // bytes of the changes that were given to link_
  int64_t applied_bytes_ = 0;                   // bytes of the changes that the target has applied
  std::string line_;                            // the beginning of an incomplete reply
  RequestParser parser_;                        // the beginning of an incomplete request of the target
  RequestBatch batch_;                          // a member only to reuse its memory
  std::optional<SnapshotPipe> pipe_;
  std::optional<SlotChangeCollector> changes_;  // changes to keys of the slots since the fork
  bool pauses_writes_ = false;                  // this export has paused writes of clients
  uint64_t seen_version_ = UINT64_MAX;          // version of the ClusterView at the last EndUnlessOwner
  int64_t last_progress_ms_ = 0;  // when the target last sent or read bytes, or the state changed (real time)
  int64_t entered_ms_ = 0;        // when the job entered its current state (real time)
  int64_t acked_ms_ = 0;          // when an ACK was last sent (real time)
  size_t unsent_bytes_ = 0;       // unsent bytes of the link at the last CheckTimeouts
};

}  // namespace respite
