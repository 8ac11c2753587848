// PrimaryLink: the connection of a replica to its primary. It performs the handshake, receives a snapshot if necessary,
// and runs the stream.
//
//   kConnect ──► kConnecting ──► kHandshake ──► kTransfer ──► kLoading ──► kLinked
//      ▲                             └────────── +CONTINUE ───────────────►  │
//      └─────────────────────── any failure ◄────────────────────────────────┘
//
// After a snapshot that could not be used, the next attempt is delayed by 2 s, 4 s and so on up to a minute, since each
// attempt makes the primary fork. A command of the stream that fails ends the link (kFailed) until an operator repeats
// REPLICAOF. Otherwise the primary would count the command as acknowledged without its effect here.
//
// The stream runs as the requests of a session (SessionKind::kPrimary) that has all permissions and gets no replies.
// The bytes of applied requests are sent unchanged to the replicas of this server.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "protocol/shared_log.h"
#include "server/clients/acl/users.h"
#include "server/clients/role.h"
#include "server/clients/session.h"
#include "server/execution/pump.h"
#include "server/net/link.h"
#include "server/replication/handshake.h"
#include "server/replication/resync.h"

namespace respite {

class Failover;
class Replicas;
class ReplicationStream;
struct Services;

class PrimaryLink final : public Link::User, public Transport {
 public:
  enum class State : uint8_t { kNone, kConnect, kConnecting, kHandshake, kTransfer, kLoading, kLinked, kFailed };

  struct Parts {
    const Services& services;
    Replicas& replicas;
    ReplicationStream& stream;
    Failover& failover;
  };
  explicit PrimaryLink(const Parts& parts);
  ~PrimaryLink() override;

  // Connects immediately to the primary that the settings name. `continues`: whether the history here may be the
  // primary's.
  void Follow(Handshake::MayContinue continues);
  // Stops following a primary.
  void Leave();
  // Reports that a command of the primary failed here and must not count as applied. The link ends after the command.
  void CommandFailed(Bytes command, Bytes error);
  // Returns whether the link waits: after a failed command, or because the next attempt has been delayed.
  bool IsResting() const;
  // Connects immediately. If the link had ended because a command of the primary failed here, a full synchronisation
  // follows. Requires: IsResting().
  void Retry();
  // Connects, sends acknowledgements, and drops a connection that takes too long. Called once a second.
  void Cron();
  // Does work that had to wait for the end of a turn.
  void EndTurn();
  // Notes that the primary has requested an acknowledgement.
  void AcknowledgeSoon() { owes_ack_ = true; }

  State state() const { return state_; }
  struct Figures {
    int64_t last_io_s;  // -1: not connected
    int64_t transfer_total;
    int64_t transfer_read;
    int64_t transfer_io_s;
    int64_t down_since_s;
    bool was_linked;      // to this primary, at least once
    int64_t read_offset;  // bytes of the history that have arrived
    int64_t retry_in_s;   // -1: no attempt is delayed
  };
  Figures Survey() const;
  // Returns why the link is down, on one line. Empty if the link is up or no error has occurred yet.
  const std::string& last_error() const { return last_error_; }
  // Returns the command that failed. Meaningful with kFailed.
  const std::string& failed_command() const { return failed_command_; }

  // Link::User
  void OnConnected() override;
  void OnReceived(Bytes bytes) override;
  void OnEnded(const std::string& reason) override;

  // Transport
  void Flush(size_t /*most_bytes*/) override;
  void Resume() override;
  void Close() override;
  int FileDescriptor() const override { return link_ == nullptr ? -1 : link_->FileDescriptor(); }

 private:
  void Dial();
  // Drops the connection. It is made again later.
  void Reconnect(const std::string& reason);
  // Drops the connection after a snapshot that could not be received or loaded, and delays the next attempt.
  void SnapshotFailed();
  void EndAtFailedCommand();
  void EndAtProtocolError();
  // Delays the next attempt; the delay grows with the number of failed attempts.
  void DelayRetry();
  // Destroys everything that belongs to the connection.
  void DropLink();
  void Take(Bytes bytes);
  void Continue();
  void SendNext();
  // Removes the lines of the handshake from the front of `bytes` and handles them.
  void TakeLines(Bytes& bytes);
  void HandleAnswer(Bytes line);
  // Returns whether the replica chosen by FAILOVER was asked to take over and has not agreed yet.
  bool AwaitsTakeover() const;
  void ContinueReplication();
  // Begins to receive a snapshot, which contains the history `id` up to `offset`.
  void BeginTransfer(const std::string& id, int64_t offset);
  void TakeSnapshot(Bytes& bytes);
  void LoadSnapshot();
  // Tells the primary during a long load that this replica is alive.
  void SayStillHere();
  void BecomeLinked(int db);
  // --- The stream
  void TakeStream(Bytes bytes);
  void Feed(Bytes bytes);
  void RunStream();
  // Returns whether a request of the stream is paused (CLIENT PAUSE) or blocked.
  bool IsPaused() const {
    return session_ != nullptr && (session_->paused_request != nullptr || session_->blocked_client != nullptr);
  }
  void NoteApplied();
  void Acknowledge();
  int64_t OffsetOnDisk();
  void CloseSession();
  bool IsLate(int64_t since_ms) const;

  const Parts parts_;
  Pump pump_;
  respite::User user_;  // has all permissions
  State state_ = State::kNone;
  Handshake::MayContinue may_continue_ = Handshake::MayContinue::kNo;
  std::unique_ptr<Link> link_;
  std::optional<Handshake> handshake_;
  std::optional<Resync> resync_;
  std::string line_;        // an incomplete line of the handshake
  int64_t last_io_ms_ = 0;  // in Pace time
  int64_t began_ms_ = 0;    // when the connection attempt began
  int64_t said_ms_ = 0;     // when SayStillHere last wrote
  int64_t down_since_ms_ = 0;
  int64_t linked_since_ms_ = 0;
  bool was_linked_ = false;   // since Follow
  int failed_snapshots_ = 0;  // since the last link that stayed up for kLongestRetryDelayMs
  int64_t retry_at_ms_ = 0;   // in Pace time; no attempt before it
  std::string last_error_;
  std::string failed_command_;  // empty: no command failed
  bool runs_stream_ = false;    // a command of the stream is running
  std::string lost_;            // why the link ended meanwhile; empty: it did not

  Session* session_ = nullptr;  // set while linked
  std::vector<char> scratch_;
  int64_t received_to_ = 0;  // history offset up to which the session was given the stream
  SharedLog log_;
  std::deque<BlobPart> unapplied_;  // bytes that have arrived after the end of the history
  std::string unprocessed_;         // input that arrived while it could not be handled
  bool resume_posted_ = false;
  bool owes_ack_ = false;
  // A history offset and the size of the append-only file at that offset. When that size is synced, so is the history.
  struct Mark {
    uint64_t journaled = 0;
    int64_t offset = 0;
  };
  Mark mark_;
  int64_t on_disk_ = 0;
};

}  // namespace respite
