// PrimaryLink: the connection of a replica to its primary. It performs the handshake, receives a snapshot if necessary,
// and runs the stream.
//
//   kConnect ──► kConnecting ──► kHandshake ──► kTransfer ──► kLoading ──► kLinked
//      ▲                             └────────── +CONTINUE ───────────────►  │
//      └─────────────────────── any failure ◄────────────────────────────────┘
//
// After a snapshot that could not be received or used, or a protocol error, the next attempt is delayed by 2 s, 4 s and
// so on up to a minute, because each attempt makes the primary fork. A command of the stream that fails here may end
// the link (kFailed, see DivergenceWatch) until an operator repeats REPLICAOF. If the link stayed open, this replica
// would acknowledge a command that was not applied here.
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
#include "base/random.h"
#include "protocol/shared_log.h"
#include "server/clients/acl/users.h"
#include "server/clients/role.h"
#include "server/clients/session.h"
#include "server/dataset/history.h"
#include "server/execution/pump.h"
#include "server/net/link.h"
#include "server/replication/handshake.h"
#include "server/replication/resync.h"

namespace respite {

class Failover;
class Replicas;
class ReplicationStream;
struct Services;

class PrimaryLink final : public Link::User, public Transport {  // the connection of a replica to its primary
 public:
  enum class State : uint8_t {  // what the link does
    kNone,                      // this server follows no primary
    kConnect,                   // the next attempt to connect is due, or waits for its time
    kConnecting,                // the connection is being established
    kHandshake,                 // the requests before the stream are under way
    kTransfer,                  // the snapshot arrives
    kLoading,                   // the whole snapshot has arrived, and is being loaded
    kLinked,                    // the stream arrives
    kFailed,                    // a command of the stream failed; waits for Retry
  };

  struct Parts {                // the arguments of the constructor
    const Services& services;   // the other parts of this server
    Replicas& replicas;         // the replicas of this server
    ReplicationStream& stream;  // passes the applied stream on to own replicas
    Failover& failover;         // is told whether the target of FAILOVER takes over
  };
  explicit PrimaryLink(const Parts& parts);
  ~PrimaryLink() override;

  // How the data here is related to the history of the primary to follow. kSameHistory: the data is an earlier state of
  // that history, so Figures::data_age_s continues. kOther: the data may belong to another history, so data_age_s
  // becomes unknown (-1).
  enum class Data : uint8_t { kSameHistory, kOther };
  // Connects immediately. `continues`: whether PSYNC may ask for a partial resynchronisation.
  void Follow(Handshake::MayContinue continues, Data data);  // connects to the primary of the directive `replicaof`
  void Leave();                                              // closes the connection, and stops following the primary
  void HandleFailedCommand(Bytes command, Bytes error);  // called if a command of the stream failed: the link will end
  bool IsWaitingToRetry() const;  // true: no connection until a delay ends or, if a command has failed, until Retry
  void Retry();                   // connects immediately; after a failed command, a full synchronisation follows
  void Cron();  // each second (or 100 ms, in a FAILOVER): connects, sends ACK, drops the connection after repl-timeout
  void EndTurn();                           // sends REPLCONF ACK, if ScheduleAck was called
  void ScheduleAck() { owes_ack_ = true; }  // makes EndTurn send REPLCONF ACK

  bool HasBeenLinked() const { return linked_since_ms_ != 0; }  // false: the link was never up since the server started
  State state() const { return state_; }  // what the link does: connects, synchronises, runs the stream …
  struct Figures {                        // figures of the link, for INFO and ROLE
    int64_t last_io_s = -1;               // how many seconds ago the primary last sent something; -1: the link is down
    int64_t transfer_total = 0;           // size in bytes of the snapshot being received; -1: unknown; 0: none
    int64_t transfer_read = 0;            // bytes of the snapshot that were received so far
    int64_t transfer_io_s;                // how many seconds ago bytes last arrived, while a snapshot is received
    int64_t down_s;                       // for how many seconds the link has been down; meaningless while it is up
    int64_t data_age_s;   // seconds since a link of this history was last up; while up, since the last input; -1: never
    int64_t read_offset;  // replication offset up to which the stream has arrived
    int64_t retry_in_s = -1;        // in how many seconds the next attempt begins; -1: none is delayed
    int64_t current_sync_attempts;  // number of attempts to connect since an established link was last lost
    int64_t total_sync_attempts;    // number of attempts to connect since this server started
    int64_t up_for_s;               // for how many seconds the link has been up; -1: it is down
    int64_t total_down_s;           // for how many seconds the link was down in total, since it was first up
  };
  Figures GetFigures() const;                                            // figures of the link, for INFO and ROLE
  const std::string& last_error() const { return last_error_; }          // why the link is down; empty: no error
  const std::string& failed_command() const { return failed_command_; }  // name of the failed command; requires kFailed

  // The functions of Link::User.
  void OnConnected() override;                       // begins the handshake
  void OnReceived(Bytes bytes) override;             // handles input of the primary
  void OnEnded(const std::string& reason) override;  // connecting failed or the link ended: retries, or aborts FAILOVER

  // The functions of Transport.
  void Flush(size_t /*most_bytes*/) override;  // discards the replies to the stream's commands
  void Resume() override;  // makes Continue run in a later turn, so that other clients are served first
  void Close() override;   // ends the link because its session was closed, for example by CLIENT KILL
  int FileDescriptor() const override { return link_ == nullptr ? -1 : link_->FileDescriptor(); }  // -1: no socket

 private:
  void Connect();  // connects to the primary that the settings name
  // Drops the connection and logs `reason`. If the link was up for at least a second, connects again immediately;
  // otherwise Cron does so later.
  void Reconnect(const std::string& reason);  // drops the connection, logs `reason`, connects again now or later
  void HandleFailedSnapshot();  // after an unusable snapshot: drops the connection and delays the next attempt
  void EndAtFailedCommand();    // ends the link (kFailed) because a command of the primary failed here
  void EndAtProtocolError();    // the stream is invalid: drops the link; a full synchronisation follows, after a delay
  void DelayRetry();  // delays the next attempt; the delay doubles with each failed snapshot or protocol error
  void DropLink();    // destroys the connection with its handshake and its snapshot
  void HandleInput(Bytes bytes);  // passes input to the handshake, the snapshot or the stream
  void Continue();                // runs the stream, and then handles input that had to wait
  void SendNext();                // sends the next request of the handshake
  void TakeLines(Bytes& bytes);   // removes the lines of the handshake from the front of `bytes` and handles them
  void HandleAnswer(Bytes line);  // handles one line of the primary during the handshake
  bool AwaitsTakeover() const;    // true: PSYNC … FAILOVER was sent, and the target has not answered
  void ContinueReplication();     // handles +CONTINUE: runs the stream without a snapshot
  void BeginTransfer(const std::string& id, int64_t offset);  // begins to receive a snapshot with history `id`
  void TakeSnapshot(Bytes& bytes);   // loads or stores at most MaxBytesPerTurn of `bytes`, and removes this part
  void LoadSnapshot();               // makes the received snapshot the data of this server, then runs the stream
  void SendKeepAliveWhileLoading();  // sends an empty line to the primary during a long load
  void BecomeLinked(int db);         // creates the session that runs the stream, in database `db` at first
  // --- The stream
  void Feed(Bytes bytes);  // runs commands of the primary that have arrived
  void RunStream();        // runs the requests that the session has received
  bool IsPaused() const {  // true: the stream waits, because one of its requests is paused, unfinished or blocked
    return session_ != nullptr && (session_->paused_request != nullptr || session_->blocked_client != nullptr);
  }
  void AdvanceHistoryOffset();          // adds the requests that have run to the offset; passes them to sub-replicas
  void Acknowledge();                   // sends the primary REPLCONF ACK with the replication offset
  int64_t OffsetOnDisk();               // updates and returns offset_on_disk_, the offset that is on this server's disk
  void ForgetOffsetOnDisk();            // the data is of another history now: sets offset_on_disk_ to 0
  void CloseSession();                  // closes the session of the stream; the replication offset stays, for PSYNC
  int64_t NowMs() const;                // the real time in ms
  bool IsLate(int64_t since_ms) const;  // whether `since_ms` is longer ago than repl-timeout

  const Parts parts_;  // the arguments of the constructor
  // The name of this replica for its primary (Replica::id). It is always random, because servers with the directive
  // `seed` may have equal run IDs.
  const std::string replica_id_ = RandomHex(History::kIdLength);  // names this replica to its primary
  Pump pump_;                                                     // runs the requests of the stream
  respite::User user_;                                            // the user of the stream; has all permissions
  State state_ = State::kNone;  // whether the link connects, synchronises, or runs the stream
  Handshake::MayContinue may_continue_ = Handshake::MayContinue::kNo;  // whether PSYNC may ask to continue
  std::unique_ptr<Link> link_;                                         // to the primary; null: not connected
  std::optional<Handshake> handshake_;        // set from OnConnected until the link is up or lost
  std::optional<Resync> resync_;              // set only while a snapshot is received and loaded
  std::string line_;                          // an incomplete line of the handshake
  int64_t last_io_ms_ = 0;                    // when the primary last sent bytes, or was connected (real time)
  int64_t began_ms_ = 0;                      // when the connection attempt began (real time)
  int64_t last_keep_alive_ms_ = 0;            // when SendKeepAliveWhileLoading last wrote (real time)
  int64_t down_since_ms_ = 0;                 // when the link went down, or was first wanted (real time)
  int64_t linked_since_ms_ = 0;               // when the link last came up (real time); 0: never
  int64_t current_sync_attempts_ = 0;         // number of attempts to connect since an established link was last lost
  int64_t total_sync_attempts_ = 0;           // number of attempts to connect since this server started
  int64_t total_down_ms_ = 0;                 // how long the link was down in total, without the current downtime
  std::optional<int64_t> last_linked_at_ms_;  // when a link of this history was last up (real time); nullopt: never
  int failed_snapshot_count_ = 0;  // failed snapshots and protocol errors in a row; 0: a link lasted a minute, or Retry
  int64_t retry_at_ms_ = 0;        // before this real time, Cron does not connect
  int takeover_requests_ = 0;      // how often PSYNC … FAILOVER was sent for the present failover
  std::string last_error_;         // why the link is down; empty: no attempt has failed, or the link is up
  std::string failed_command_;     // the command of the primary that failed here; empty: none
  bool runs_stream_ = false;       // true: a command of the stream is running
  std::string lost_reason_;        // why the connection was lost while runs_stream_; empty: it was not lost

  Session* session_ = nullptr;            // the session that runs the stream; null: not linked
  std::vector<char> scratch_;             // buffer from which session_ reads the stream; kept to reuse its memory
  int64_t received_to_ = 0;               // replication offset up to which session_ has received the stream
  SharedLog log_;                         // the bytes of the stream, shared with the backlog and the replicas' output
  std::deque<BlobPart> unapplied_parts_;  // received bytes of those requests that have not run yet
  std::string unprocessed_input_;         // input that has arrived, but cannot be handled yet
  bool resume_posted_ = false;            // true: Continue will run in a later turn
  bool owes_ack_ = false;                 // true: EndTurn must send REPLCONF ACK
  // When AofWriter::SyncedBytes() reaches `appended_bytes`, the commands of the history up to `offset` are on the disk.
  struct Mark {                   // a replication offset, and how much the append-only file had got by then
    uint64_t appended_bytes = 0;  // AofWriter::AppendedBytes() when this link was at `offset`
    int64_t offset = 0;           // replication offset
  };
  Mark mark_;                   // the replication offset to which the append-only file is being synced
  int64_t offset_on_disk_ = 0;  // replication offset up to which the append-only file is synced
};

}  // namespace respite
