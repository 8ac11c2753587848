// Waiting: sessions whose command waits: for a key (BLPOP, XREAD BLOCK …) or for nothing but time (WAIT).
//
// A command that finds nothing calls Call::Wait; its request is kept here. When a key it waits for changes, the request
// runs again, right after the command that changed it: those who wait for one key run in the order in which they came,
// keys in the order in which they changed. Whoever finds nothing again waits on, with the old deadline, at the end of
// the line. Nobody costs anything while nothing happens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "server/clients/session.h"
#include "server/clients/waiter.h"
#include "server/dataset/timers.h"

namespace respite {

class Clients;
class Phase;
class Keyspace;
struct Running;

// Why a wait is over though nothing came.
enum class WaitEnd : uint8_t { kTimeout, kUnblocked };

// Runs the requests of those who wait. The Executor is one.
class RequestRunner {
 public:
  virtual ~RequestRunner() = default;
  // Reads the clocks anew.
  virtual void StartRun() = 0;
  enum class Outcome : uint8_t {
    kDone,
    kPostponed,   // it stands in Session::held until the end of CLIENT PAUSE
    kUnfinished,  // it stands in Session::held and goes on in the next Turn (Call::GoOnInNextTurn)
    kWaiting,     // it is kept until something happens (BLPOP, WAIT)
  };
  // A request runs again that found nothing before.
  virtual Outcome RunAgain(Session& session, const Command& command, std::span<const Bytes> words) = 0;
  // Answers a request whose wait ended without it running again.
  virtual void AnswerWaiter(const Waiter& waiter, WaitEnd end) = 0;
};

class Waiting final : public Timers::Source {
 public:
  struct Parts {
    Keyspace& keyspace;
    Clients& clients;
    RequestRunner& runner;
    const Running& running;
    const Phase& phase;
  };
  Waiting(const Parts& parts, const HashKey& hash_key) : parts_(parts), lines_(hash_key), losses_(hash_key) {}

  // Keeps this request until something happens. Cost: O(keys + log n).
  void Park(Session& session, const Command& command, std::span<const Bytes> words, const Awaited& awaited);
  // The session goes, and its wait with it.
  void Forget(Session& session) { Take(session); }
  // Answers a session that waits: null for a timeout, an error for CLIENT UNBLOCK … ERROR.
  void End(Session& session, WaitEnd end);

  // Runs the requests that wait for keys which have changed, until no more do. Called after each command and at the end
  // of the Turn.
  void ServeReady() {
    if (!ready_.empty()) ServeAll();
  }
  // Runs the requests that wait for the disk: more is on it now, or the append-only file was turned off.
  void ServeDisk();
  bool AwaitsDisk() const { return !for_disk_.empty(); }
  bool HasReady() const { return !ready_.empty(); }
  // Answers those whose time is up, but no more than a Turn should have. Cost: O(of them).
  void RunDue(int64_t now_ms) override;
  int64_t NextDueMs() const override { return deadlines_.empty() ? Timers::kNever : deadlines_.begin()->first; }

  // INFO: sessions whose time is limited, the keys that are waited for, and those whose loss somebody wants to know of.
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
  using Line = KeyLines<Waiter*>::Line;
  static constexpr int kEndedPerTurn = 100;

  void MarkReady(int db, Bytes key, Line& line);
  void MarkAll(int db);
  void ServeAll();
  void Serve(const KeyName& name);
  // Requires: it waits. Closes any session, this one too, when clients take too much memory.
  void Rerun(Session& session);
  // Null when it does not wait.
  std::unique_ptr<Waiter> Take(Session& session);

  const Parts parts_;
  KeyLines<Waiter*> lines_;
  KeyLines<Waiter*> losses_;  // those of them who want to know when a key is gone
  std::set<std::pair<int64_t, Session*>> deadlines_;
  std::set<uint64_t> for_disk_;              // ids
  std::vector<KeyName> ready_;               // changed since ServeReady; their lines are marked
  std::optional<int64_t> kept_deadline_ms_;  // of the request that runs again
  bool serving_ = false;
};

}  // namespace respite
