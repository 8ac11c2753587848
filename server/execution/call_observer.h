// CallObserver: is notified of each finished command of clients, transactions and scripts. SLOWLOG, LATENCY and MONITOR
// are observers.
//
//   class Count final : public CallObserver {
//     void OnCall(const FinishedCall&) override { ++calls; }
//   };
//   observers.Attach(count);                    // every call from now on
//   observers.Attach(count, {.from_us = 500});  // only calls of at least 500 µs
//   observers.Detach(count);
//
// A detached observer costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "protocol/request_text.h"
#include "server/catalogue/command_table.h"
#include "server/clients/waiting_requests.h"

namespace respite {

struct Session;

// A command that ran. All views are valid until the end of the Call.
struct FinishedCall {
  enum class Ending : uint8_t { kSucceeded, kFailed };

  Session& session;  // of the client, or of the script
  const Command& command;
  std::span<const Bytes> words;
  int64_t duration_us = 0;
  Ending ending = Ending::kSucceeded;
  // kAgain: the client was blocked or paused before.
  Progress::Stage stage = Progress::Stage::kNew;
  Bytes error = {};        // with kFailed: the error; empty if the error is inside the reply
  int depth = 0;           // 0: sent by a client; greater: run by a transaction or script
  size_t reply_bytes = 0;  // 0 for a script's command
};

// A command that was refused before it ran.
struct RefusedCall {
  Session& session;
  const Command* command;  // null if there is no such command
  std::span<const Bytes> words;
  Bytes error;
  int depth = 0;
};

// A command that blocks, or is queued in a transaction. OnCall follows after the wait or when EXEC runs the command,
// unless the client disconnects.
struct WaitingCall {
  Session& session;
  const Command& command;
  std::span<const Bytes> words;
};

// Queued commands are reported when EXEC runs them, before the EXEC itself; commands of a script before its EVAL.
// Commands loaded from a file are not reported. An observer may attach and detach any observer and close any session,
// but must not run commands.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnCall(const FinishedCall& call) = 0;
  virtual void OnRefusal(const RefusedCall& /*call*/) {}
  virtual void OnWait(const WaitingCall& /*call*/) {}
  virtual void OnQueued(const WaitingCall& /*call*/) {}
};

// Limits for the calls that an observer is notified of: a call must reach at least one of them.
struct CallLimits {
  static constexpr int64_t kNoTime = std::numeric_limits<int64_t>::max();
  static constexpr size_t kNoSize = std::numeric_limits<size_t>::max();
  static constexpr CallLimits EveryCall() { return {.from_us = std::numeric_limits<int64_t>::min()}; }

  int64_t from_us = kNoTime;
  size_t from_request_bytes = kNoSize;
  size_t from_reply_bytes = kNoSize;

  // Returns whether the call reaches a limit. Cost: three comparisons, and O(arguments) if from_request_bytes is set.
  bool IsReachedBy(const FinishedCall& call) const {
    return call.duration_us >= from_us || call.reply_bytes >= from_reply_bytes ||
           (from_request_bytes != kNoSize && HasLargeRequest(call));
  }

 private:
  // First adds an upper bound per argument. The exact size, with the digits of each length, is computed only near the
  // limit.
  bool HasLargeRequest(const FinishedCall& call) const {
    constexpr size_t kMostAroundWord = 32;  // "$4294967295\r\n" and "\r\n"
    size_t bytes = (call.words.size() + 1) * kMostAroundWord;
    for (const Bytes word : call.words) bytes += word.size();
    return bytes >= from_request_bytes && RequestBytes(call.words) >= from_request_bytes;
  }
};

class CallObservers {
 public:
  // Notifies the observer of calls that reach the limits, and of refusals and waits. If it is already attached, only
  // changes the limits. The observer must live until it is detached.
  void Attach(CallObserver& observer, const CallLimits& limits = CallLimits::EveryCall());
  // Does nothing if the observer is not attached.
  void Detach(CallObserver& observer);

  // Reports a finished call to the observers whose limits it reaches. Cost: one check of CallLimits if no observer
  // wants the call.
  void OnCall(const FinishedCall& call) {
    if (least_.IsReachedBy(call)) TellOfCall(call);
  }
  void OnRefusal(const RefusedCall& call);
  void OnWait(const WaitingCall& call);
  void OnQueued(const WaitingCall& call);

 private:
  struct Listener {
    CallObserver* observer;  // null: detached during ForEach
    CallLimits limits;
  };

  void TellOfCall(const FinishedCall& call);
  template <class Visit>
  void ForEach(Visit&& visit);
  void Tidy();

  std::vector<Listener> listeners_;
  CallLimits least_;  // the lowest limits of all listeners
  int depth_ = 0;     // nesting of ForEach
};

// Returns the arguments of a call without its secrets (Call::Redact).
std::vector<Bytes> ShownWords(const Session& session, std::span<const Bytes> words);

}  // namespace respite
