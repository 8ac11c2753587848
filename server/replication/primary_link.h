// PrimaryLink: a replica's connection to its primary: greets it, takes a snapshot if it must, and runs the stream.
//
//   kConnect ──► kConnecting ──► kHandshake ──► kTransfer ──► kLoading ──► kLinked
//      ▲                             └────────── +CONTINUE ───────────────►  │
//      └───────────────── whatever goes wrong ◄──────────────────────────────┘
//
// After a snapshot that could not be used, the next attempt waits: 2 s, 4 s and so on up to a minute, since each makes
// the primary fork. A command of the stream that fails ends the link (kFailed) until an operator has it made again:
// what the primary counts as acknowledged must have its effect here.
//
// The stream is run as the requests of a session (SessionKind::kPrimary) that may do everything and gets no replies.
// The bytes of what has run go on to the own replicas, as they came.
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
    Pump::Parts pump;
    const LateBound<Network>& network;
    Role& role;
    Replicas& replicas;
    ReplicationStream& stream;
    Failover& failover;
  };
  explicit PrimaryLink(const Parts& parts);
  ~PrimaryLink() override;

  // Follows the primary that the settings name: connects at once. `continues`: the history here may be that of it.
  void Follow(Handshake::MayContinue continues);
  // Follows nobody any more.
  void Leave();
  // A command of the primary failed here, and must not count as applied. The link ends when the command has.
  void CommandFailed(Bytes command, Bytes error);
  // Whether the link waits: a command has failed, or the next attempt has been delayed.
  bool IsResting() const;
  // Connects immediately. After a failed command, this makes a full synchronisation. Requires: IsResting().
  void Retry();
  // Once a second: connects, acknowledges, and gives up what takes too long.
  void Cron();
  // At the end of a Turn: what had to wait for it.
  void EndTurn();
  // The primary asked how far we are.
  void AcknowledgeSoon() { owes_ack_ = true; }

  State state() const { return state_; }
  struct Figures {
    int64_t last_io_s;  // -1: there is no connection
    int64_t transfer_total;
    int64_t transfer_read;
    int64_t transfer_io_s;
    int64_t down_since_s;
    bool was_linked;      // to this primary, at least once
    int64_t read_offset;  // bytes of the history that have arrived
    int64_t retry_in_s;   // -1: no attempt is put off
  };
  Figures Survey() const;
  // Why the link is down, on one line; empty: it is up, or nothing has gone wrong yet.
  const std::string& last_error() const { return last_error_; }
  // With kFailed: the command.
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
  // Drops the connection; it is made again.
  void Reconnect(const std::string& reason);
  // The primary's snapshot could not be loaded: the next attempt is delayed.
  void SnapshotFailed();
  void EndAtFailedCommand();
  void EndAtProtocolError();
  // Delays the next attempt: the more attempts have failed, the longer.
  void DelayRetry();
  // Nothing of the connection is left.
  void DropLink();
  void Take(Bytes bytes);
  void Continue();
  void SendNext();
  // Takes the lines of the handshake off the front.
  void TakeLines(Bytes& bytes);
  void HandleAnswer(Bytes line);
  // Whether the replica that is to take over was asked to, and has not agreed.
  bool AwaitsTakeover() const;
  void ContinueReplication();
  // The snapshot has the history `id` up to `offset`.
  void BeginTransfer(const std::string& id, int64_t offset);
  void TakeSnapshot(Bytes& bytes);
  void LoadSnapshot();
  // The primary must not give us up while we load.
  void SayStillHere();
  void BecomeLinked(int db);
  // The stream.
  void TakeStream(Bytes bytes);
  void Feed(Bytes bytes);
  void RunStream();
  // A request of the stream waits: for the end of CLIENT PAUSE.
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
  respite::User user_;  // may do everything
  State state_ = State::kNone;
  Handshake::MayContinue may_continue_ = Handshake::MayContinue::kNo;
  std::unique_ptr<Link> link_;
  std::optional<Handshake> handshake_;
  std::optional<Resync> resync_;
  std::string line_;        // the beginning of a line
  int64_t last_io_ms_ = 0;  // of the Pace
  int64_t began_ms_ = 0;    // to connect
  int64_t said_ms_ = 0;     // that we are still here
  int64_t down_since_ms_ = 0;
  int64_t linked_since_ms_ = 0;
  bool was_linked_ = false;   // since Follow
  int failed_snapshots_ = 0;  // since the last one that could be used
  int64_t retry_at_ms_ = 0;   // of the Pace; not before
  std::string last_error_;
  std::string failed_command_;  // empty: none

  Session* session_ = nullptr;  // while linked
  std::vector<char> scratch_;
  int64_t received_to_ = 0;  // bytes of the history that the session was given
  SharedLog log_;
  std::deque<BlobPart> unapplied_;  // the bytes behind the history's end that have arrived
  std::string unprocessed_;         // arrived while nothing could be made of it
  bool resume_posted_ = false;
  bool owes_ack_ = false;
  // The end of the history when the append-only file had so many bytes: when these are synced, so is the history.
  struct Mark {
    uint64_t journaled = 0;
    int64_t offset = 0;
  };
  Mark mark_;
  int64_t on_disk_ = 0;
};

}  // namespace respite
