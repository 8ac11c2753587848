// BlockedClients: sessions with a blocking command, which waits for keys (BLPOP, XREAD BLOCK …) or only for a timeout
// (WAIT).
//
// A command that finds no data calls Call::Wait, which stores its request here. When one of its keys changes, the
// request runs again directly after the command that changed the key. The clients of one key run in order of arrival,
// the keys in the order of their changes. A request that finds no data again keeps its deadline and moves to the end of
// the queue. Blocked clients cost nothing until then.
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

// Why a wait ended without running the request again.
// kRoleChanged: the server has become a replica; the connection closes after the error.
enum class UnblockReason : uint8_t { kTimeout, kUnblocked, kRoleChanged };

// Runs the requests of blocked sessions again. Implemented by the Executor.
class RequestRunner {
 public:
  virtual ~RequestRunner() = default;
  // Updates the cached time.
  virtual void StartRun() = 0;
  enum class Outcome : uint8_t {
    kDone,
    kPaused,      // in Session::paused_request until CLIENT PAUSE ends
    kUnfinished,  // in Session::paused_request; continues in the next Turn (Call::ContinueInNextTurn)
    kBlocked,     // blocked again
  };
  // Runs a blocked request again.
  virtual Outcome RunAgain(Session& session, const Command& command, std::span<const Bytes> words,
                           Progress::Stage stage) = 0;
  // Writes the reply to a request whose wait ended without running it again.
  virtual void ReplyUnblocked(const BlockedClient& blocked, UnblockReason end) = 0;
};

class BlockedClients final : public Timers::Source {
 public:
  struct Parts {
    const Env& env;
    Keyspace& keyspace;
    Clients& clients;
    const LateBound<RequestRunner>& runner;
    const CurrentExecution& current_execution;
  };
  BlockedClients(const Parts& parts, const HashKey& hash_key) : parts_(parts), lines_(hash_key), losses_(hash_key) {}

  // Blocks the session with this request. Cost: O(keys + log n).
  void Block(Session& session, const Command& command, std::span<const Bytes> words, const BlockCondition& awaited);
  // Removes a session that is closing.
  void Forget(Session& session) { Take(session); }
  // Ends the wait of a session with a reply: null after a timeout, an error for CLIENT UNBLOCK … ERROR.
  void End(Session& session, UnblockReason end);
  // Continues the request of a session that waited for something other than keys. The checks before a command (Gates)
  // are not made again. Requires: the session is blocked.
  void Continue(Session& session) { Rerun(session, Progress::Stage::kBegun); }
  // Ends the waits of all sessions with a reply. Cost: O(sessions).
  void EndAll(UnblockReason end);

  // Runs requests whose keys have changed, until no more keys change. Called after each command and at the end of a
  // Turn.
  void ServeReady() {
    if (!ready_.empty()) ServeAll();
  }
  // Runs requests that wait for the disk. Called after an fsync, or when the append-only file was turned off.
  void ServeDisk();
  bool AwaitsDisk() const { return !for_disk_.empty(); }
  bool HasReady() const { return !ready_.empty(); }
  // Ends waits whose timeout has passed, at most kEndedPerTurn per Turn. Cost: O(ended waits).
  void RunDue(int64_t now_ms) override;
  int64_t NextDueMs() const override { return deadlines_.empty() ? Timers::kNever : deadlines_.begin()->at_ms; }
  std::string WhatIsDue() const override;

  // For INFO, CountWithDeadline counts sessions with a timeout, Keys counts keys with blocked clients, and KeysWithLoss
  // counts keys whose deletion also ends a wait.
  size_t CountWithDeadline() const { return deadlines_.size(); }
  size_t Keys() const { return lines_.Keys(); }
  size_t KeysWithLoss() const { return losses_.Keys(); }

  // See ChangeListener.
  bool Empty() const { return lines_.Empty(); }
  void OnChange(int db, Bytes key) {
    if (Line* line = lines_.Find(db, key)) MarkReady(db, key, *line);
  }
  void OnFlush(int db) { MarkAll(db); }
  void OnSwap(int one, int other) {
    MarkAll(one);
    MarkAll(other);
  }

 private:
  using Line = KeyQueues<BlockedClient*>::Line;
  // Waits with equal deadlines end in the order of client ids.
  struct WaitDeadline {
    int64_t at_ms;
    uint64_t client;
    auto operator<=>(const WaitDeadline&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  static constexpr int kEndedPerTurn = 100;

  void MarkReady(int db, Bytes key, Line& line);
  void MarkAll(int db);
  void ServeAll();
  void Serve(const KeyName& name);
  // Runs the request of a blocked client again. Requires: the session is blocked. May close any session, including this
  // one, when clients use too much memory.
  void Rerun(Session& session, Progress::Stage stage = Progress::Stage::kAgain);
  // Returns null if the session is not blocked.
  std::unique_ptr<BlockedClient> Take(Session& session);

  const Parts parts_;
  KeyQueues<BlockedClient*> lines_;
  KeyQueues<BlockedClient*> losses_;  // of clients with Loss::kTold
  std::set<WaitDeadline> deadlines_;
  std::set<uint64_t> for_disk_;              // client ids
  std::vector<KeyName> ready_;               // changed since the last ServeReady; their queues are marked
  std::optional<int64_t> kept_deadline_ms_;  // of the request that is running again
  bool serving_ = false;
};

}  // namespace respite
