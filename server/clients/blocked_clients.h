// BlockedClients: sessions with a blocking command. They wait for keys (BLPOP, XREAD BLOCK …), for acknowledgements of
// replicas (WAIT) or for an fsync of the append-only file (WAITAOF), with or without a timeout.
//
// A command that finds no data calls Call::Wait, which stores its request here. When one of the request's keys has
// changed and has a value of the awaited type, the request runs again directly after the client's command that changed
// the key. The clients of one key run in order of arrival, the keys in the order of their changes. A request that finds
// no data again keeps its deadline and moves to the end of the queue. A client that is blocked costs no time until one
// of its keys changes.
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

// Why a wait ended without running the request again. kTimeout: the timeout has passed, or something else ends the wait
// with the same reply, for example CLIENT UNBLOCK … TIMEOUT. kUnblocked: CLIENT UNBLOCK … ERROR. kRoleChanged: the
// server has become a replica; the connection closes after the error, unless the error redirects the client to the
// primary.
enum class UnblockReason : uint8_t { kTimeout, kUnblocked, kRoleChanged };  // why a wait ended without a rerun

class RequestRunner {  // interface to the Executor, which runs the requests of blocked clients again
 public:
  virtual ~RequestRunner() = default;
  virtual void ReadClocks() = 0;  // reads the clocks; later commands see this time
  enum class Outcome : uint8_t {  // what the request did when it ran again
    kDone,
    kPaused,      // waits in Session::paused_request for the end of CLIENT PAUSE, MIGRATE or a delay of TEST FAULT
    kUnfinished,  // in Session::paused_request; continues in the next Turn (Call::ContinueInNextTurn)
    kBlocked,     // blocked again
  };
  // Runs a blocked request again. If `stage` is kAgain, the checks before a command (Gates) are made again. If it is
  // kBegun, they are not made.
  virtual Outcome RunAgain(Session& session, const Command& command,  // runs a blocked client's request again
                           std::span<const Bytes> arguments, Progress::Stage stage) = 0;
  virtual void ReplyToEndedWait(const BlockedClient& blocked, UnblockReason reason) = 0;  // replies after an ended wait
};

class BlockedClients final : public Timers::Source {  // clients that wait in BLPOP, XREAD BLOCK, WAIT …
 public:
  struct Parts {  // the objects that BlockedClients uses; its constructor gets them
    const Env& env;
    Keyspace& keyspace;                         // all databases of the server
    Clients& clients;                           // the sessions of all clients
    const LateBound<RequestRunner>& runner;     // the Executor, which runs requests again
    const CurrentExecution& current_execution;  // the command that runs now
  };
  BlockedClients(const Parts& parts, const HashKey& hash_key)
      : parts_(parts), queues_(hash_key), deletion_queues_(hash_key) {}

  // Blocks the session until one of the events in `awaited`. Then the request runs again or, after the timeout,
  // `awaited.answer` writes the reply. Cost: O(k log k) for k keys, and O(log n) for n clients with a timeout.
  void Block(Session& session, const Command& command,  // blocks the client until an event or the timeout
             std::span<const Bytes> arguments, const BlockCondition& awaited);
  void Forget(Session& session) { Take(session); }  // drops the session's wait, if any, without a reply
  // Ends the wait of a session with a reply. For kTimeout the function BlockCondition::answer writes the reply, by
  // default a null; other reasons give an error. Requires: the session is blocked.
  void End(Session& session, UnblockReason reason);  // ends the session's wait with a reply
  // Runs the request of a blocked session again, without the checks before a command (Gates). For sessions that wait
  // for something other than keys. Requires: the session is blocked.
  void Continue(Session& session) { Rerun(session, Progress::Stage::kBegun); }  // reruns the request, without checks
  // Ends the waits of all blocked sessions with a reply, without running their requests. Skips sessions that are
  // closing. Cost: O(sessions).
  void EndAllWaits(UnblockReason reason);  // unblocks all clients with a reply; their commands do not run

  // Runs the requests whose keys have changed, unless data is being loaded. Called after each client's command and at
  // the end of a Turn (a pass of the event loop).
  void RunReadyRequests() {  // runs the requests of blocked clients whose keys have changed
    if (!ready_keys_.empty()) RunAllReadyRequests();
  }
  // Must be called after an fsync, after an ACK of a replica, and when the append-only file is turned off.
  void RunRequestsWaitingForAcksOrDisk();         // reruns the requests of clients that are blocked in WAIT or WAITAOF
  bool HasRequestsWaitingForAcksOrDisk() const {  // whether some client is blocked in WAIT or WAITAOF
    return !ids_waiting_for_acks_or_disk_.empty();
  }
  bool HasReadyRequests() const { return !ready_keys_.empty(); }  // true: RunReadyRequests has work
  void RunDue(int64_t now_ms) override;  // ends waits whose timeout has passed, runs due retries; at most 100
  int64_t NextDueMs() const override {   // monotonic clock time of the next timeout or retry, or kNever
    return deadlines_.empty() ? Timers::kNever : deadlines_.begin()->at_ms;
  }
  std::string NextDueText() const override;  // what is due at NextDueMs: "BLPOP of client 3 times out"

  size_t ClientsWithDeadlineCount() const { return deadlines_.size(); }  // clients with a timeout or a retry time
  size_t Keys() const { return queues_.Keys(); }  // number of keys that clients wait for, for INFO
  size_t DeletionWatchedKeyCount() const { return deletion_queues_.Keys(); }  // keys whose deletion also ends a wait

  // The functions from HasAwaitedKeys to OnSwap are called by ChangeDispatcher to report changes of the data.
  // ChangeListener describes these events.
  bool HasAwaitedKeys() const { return !queues_.IsEmpty(); }  // true: a client waits for a key
  void OnChange(int db, Bytes key) {  // the key has changed: RunReadyRequests will look at its queue
    if (Queue* line = queues_.Find(db, key)) MarkReady(db, key, *line);
  }
  void OnFlush(int db) { MarkKeysReady(db); }  // called before `db` loses all keys: marks its awaited keys as ready
  void OnSwap(int db, int other_db) {  // SWAPDB has swapped these databases: RunReadyRequests will look at their keys
    MarkKeysReady(db);
    MarkKeysReady(other_db);
  }

 private:
  using Queue = KeyQueues<BlockedClient*>::Queue;
  struct DueClient {  // a blocked client by the time when its wait times out or its request runs again
    int64_t at_ms;    // monotonic clock time
    uint64_t client;  // id of the client; equal deadlines end in the order of ids
    auto operator<=>(const DueClient&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  static constexpr int kMaxEndedPerTurn = 100;  // maximum number of waits that one call of RunDue ends or retries

  void MarkReady(int db, Bytes key, Queue& queue);  // adds a changed key with this `queue` of clients to ready_keys_
  void MarkKeysReady(int db);  // adds the awaited keys of `db` that exist, or whose loss ends a wait, to ready_keys_
  void RunAllReadyRequests();  // reruns requests until ready_keys_ stays empty
  void RunRequestsOfKey(const KeyName& name);  // reruns the requests that wait for this key
  // Unblocks the session and runs its request again. Requires: the session is blocked. May close any session, including
  // `session`, when clients use too much memory.
  void Rerun(Session& session, Progress::Stage stage = Progress::Stage::kAgain);  // ends the wait, reruns the request
  std::unique_ptr<BlockedClient> Take(Session& session);  // removes and returns the session's wait, without a reply

  const Parts parts_;                          // the objects that the constructor got
  KeyQueues<BlockedClient*> queues_;           // blocked clients by the key that they wait for, in order of arrival
  KeyQueues<BlockedClient*> deletion_queues_;  // clients whose wait also ends when their key is deleted, by key
  std::set<DueClient> deadlines_;              // when waits time out or requests run again, the soonest first
  std::set<uint64_t> ids_waiting_for_acks_or_disk_;  // ids of clients that are blocked in WAIT or WAITAOF
  std::vector<KeyName> ready_keys_;                  // changed keys whose queues RunReadyRequests must look at
  std::optional<int64_t> kept_deadline_ms_;  // while a request runs again: when its wait times out; else nullopt
  bool is_running_ready_requests_ = false;   // true: RunAllReadyRequests runs; nested calls do nothing
};

}  // namespace respite
