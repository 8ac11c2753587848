// BlockedClients: sessions with a blocking command. They wait for keys (BLPOP, XREAD BLOCK …), or for acknowledgements
// or a sync of the append-only file (WAIT, WAITAOF), with or without a timeout.
//
// A command that finds no data calls Call::Wait, which stores its request here. When one of the request's keys changes,
// the request runs again directly after the command that changed the key. The clients of one key run in order of
// arrival, the keys in the order of their changes. A request that finds no data again keeps its deadline and moves to
// the end of the queue. A client that is blocked costs no time until one of its keys changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/session.h"
#include "server/clients/waiting_requests.h"
#include "server/runtime/env.h"
#include "server/runtime/timers.h"

namespace respite {

class Clients;
class Keyspace;
struct CurrentExecution;

// Why a wait ended without running the request again. kTimeout: the timeout has passed, or something else ended the
// wait in the same way. kUnblocked: CLIENT UNBLOCK … ERROR. kRoleChanged: the server has become a replica; the
// connection closes after the error, unless the error redirects the client to the primary.
enum class UnblockReason : uint8_t { kTimeout, kUnblocked, kRoleChanged };

class RequestRunner {  // runs requests of blocked clients again; the Executor implements it
 public:
  virtual ~RequestRunner() = default;
  virtual void ReadClocks() = 0;  // updates the cached time
  enum class Outcome : uint8_t {
    kDone,
    kPaused,      // in Session::paused_request until CLIENT PAUSE ends
    kUnfinished,  // in Session::paused_request; continues in the next Turn (Call::ContinueInNextTurn)
    kBlocked,     // blocked again
  };
  // Runs a blocked request again. If `stage` is kAgain, the checks before a command (Gates) are made again; if it is
  // kBegun, they are not.
  virtual Outcome RunAgain(Session& session, const Command& command,  // runs a blocked request again
                           std::span<const Bytes> arguments, Progress::Stage stage) = 0;
  virtual void ReplyToEndedWait(const BlockedClient& blocked, UnblockReason reason) = 0;  // writes the wait's reply
};

class BlockedClients final : public Timers::Source {  // sessions in BLPOP, XREAD BLOCK, WAIT …
 public:
  struct Parts {  // the objects that BlockedClients uses; its constructor gets them
    const Env& env;
    Keyspace& keyspace;                         // all databases
    Clients& clients;                           // all sessions
    const LateBound<RequestRunner>& runner;     // the Executor
    const CurrentExecution& current_execution;  // the command that runs now
  };
  BlockedClients(const Parts& parts, const HashKey& hash_key)
      : parts_(parts), lines_(hash_key), deletion_queues_(hash_key) {}

  // Blocks the session until one of the events in `awaited`; then this request runs again. Cost: O(k log k) for k keys,
  // and O(log n) for n clients with a timeout.
  void Block(Session& session, const Command& command,  // blocks the client; this request will run again
             std::span<const Bytes> arguments, const BlockCondition& awaited);
  void Forget(Session& session) { Take(session); }  // the session closes: drops its wait
  // Ends the wait of a session with a reply. For kTimeout the function BlockCondition::answer writes the reply, by
  // default a null; other reasons give an error.
  void End(Session& session, UnblockReason reason);
  // Runs the request of a session again that waited for something other than keys, without the checks before a command
  // (Gates). Requires: the session is blocked.
  void Continue(Session& session) { Rerun(session, Progress::Stage::kBegun); }  // runs its request again, unchecked
  // Ends the waits of all blocked sessions with a reply, without running their requests. Cost: O(sessions).
  void EndAllWaits(UnblockReason reason);  // ends the waits of all blocked sessions with a reply

  // Runs the requests whose keys have changed. Called after each command and at the end of a Turn (a pass of the event
  // loop).
  void RunReadyRequests() {  // runs the requests whose keys have changed
    if (!ready_keys_.empty()) RunAllReadyRequests();
  }
  void RunRequestsWaitingForDisk();  // runs requests of WAITAOF; call it after an fsync or when the AOF is turned off
  bool HasRequestsWaitingForDisk() const { return !ids_waiting_for_disk_.empty(); }  // requests wait for an AOF fsync
  bool HasReadyRequests() const { return !ready_keys_.empty(); }  // keys that clients wait for have changed
  void RunDue(int64_t now_ms) override;                           // ends waits whose timeout has passed
  int64_t NextDueMs() const override {                            // monotonic time of the next timeout, or kNever
    return deadlines_.empty() ? Timers::kNever : deadlines_.begin()->at_ms;
  }
  std::string NextDueText() const override;  // for example "BLPOP of client 3 times out"

  size_t ClientsWithTimeoutCount() const { return deadlines_.size(); }  // clients that wait with a timeout, for INFO
  size_t Keys() const { return lines_.Keys(); }                         // keys with blocked clients, for INFO
  size_t DeletionWatchedKeyCount() const { return deletion_queues_.Keys(); }  // keys whose deletion ends a wait; INFO

  // ChangeDispatcher calls IsEmpty, OnChange, OnFlush and OnSwap to report changes of the data. ChangeListener
  // describes these events.
  bool IsEmpty() const { return lines_.IsEmpty(); }  // no client waits for a key
  void OnChange(int db, Bytes key) {                 // the key has changed
    if (Line* line = lines_.Find(db, key)) MarkReady(db, key, *line);
  }
  void OnFlush(int db) { MarkKeysReady(db); }  // the database is about to lose all keys
  void OnSwap(int db, int other_db) {          // SWAPDB has swapped the databases
    MarkKeysReady(db);
    MarkKeysReady(other_db);
  }

 private:
  using Line = KeyQueues<BlockedClient*>::Line;
  struct WaitDeadline {                                     // when the wait of a client ends
    int64_t at_ms;                                          // monotonic
    uint64_t client;                                        // client id; equal deadlines end in this order
    auto operator<=>(const WaitDeadline&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  static constexpr int kMaxEndedPerTurn = 100;  // how many waits RunDue ends in one Turn at most

  void MarkReady(int db, Bytes key, Line& line);  // puts a changed key with blocked clients into ready_keys_
  void MarkKeysReady(int db);  // after a flush or swap: puts keys whose requests may end into ready_keys_
  void RunAllReadyRequests();  // runs requests until no more keys become ready
  void RunRequestsOfKey(const KeyName& name);  // runs the requests that wait for the key
  // Unblocks the session and runs its request again. Requires: the session is blocked. May close any session, including
  // `session`, when clients use too much memory.
  void Rerun(Session& session, Progress::Stage stage = Progress::Stage::kAgain);  // runs its request again
  std::unique_ptr<BlockedClient> Take(Session& session);  // unblocks the session; returns its wait, or null

  const Parts parts_;                          // the objects that the constructor got
  KeyQueues<BlockedClient*> lines_;            // blocked clients by key, in order of arrival
  KeyQueues<BlockedClient*> deletion_queues_;  // clients that the deletion of a key also wakes, by key
  std::set<WaitDeadline> deadlines_;           // deadlines of all waits with a timeout, the soonest first
  std::set<uint64_t> ids_waiting_for_disk_;    // ids of clients that wait for an fsync (WAITAOF)
  std::vector<KeyName> ready_keys_;            // changed keys whose clients must run again; their queues are marked
  std::optional<int64_t> kept_deadline_ms_;    // deadline of the request that runs again, monotonic; nullopt: none runs
  bool is_running_ready_requests_ = false;     // RunAllReadyRequests runs, so a nested call does nothing
};

}  // namespace respite
