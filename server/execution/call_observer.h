// CallObserver: is told of each command when it is over: those of clients, transactions and scripts. SLOWLOG, LATENCY
// and MONITOR are observers.
//
//   class Count final : public CallObserver {
//     void OnCall(const FinishedCall&) override { ++calls; }
//   };
//   observers.Attach(count);                    // every call from now on
//   observers.Attach(count, {.from_us = 500});  // only those that took 500 µs or longer
//   observers.Detach(count);
//
// An observer that is not attached costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "protocol/request_text.h"
#include "server/catalogue/command_table.h"
#include "server/clients/paused_request.h"

namespace respite {

struct Session;

// A command that ran. All views die with the Call.
struct FinishedCall {
  enum class Ending : uint8_t { kSucceeded, kFailed };

  Session& session;  // the client's, or the one that stands for a script
  const Command& command;
  std::span<const Bytes> words;
  int64_t duration_us = 0;
  Ending ending = Ending::kSucceeded;
  // kAgain: the client waited for a key or the end of CLIENT PAUSE before.
  Progress::Stage stage = Progress::Stage::kNew;
  Bytes error = {};        // with kFailed: why it was refused; empty when an error stands in its reply
  int depth = 0;           // 0: a client sent it; more: it ran within a transaction or a script
  size_t reply_bytes = 0;  // of a script's command: 0
};

// A command that was refused before it ran.
struct RefusedCall {
  Session& session;
  const Command* command;  // null: the words name none
  std::span<const Bytes> words;
  Bytes error;
  int depth = 0;
};

// A command that found nothing and waits for its keys, or is queued in a transaction. OnCall follows when its wait is
// over, or when EXEC runs it, if the client stays.
struct WaitingCall {
  Session& session;
  const Command& command;
  std::span<const Bytes> words;
};

// Queued commands are reported when EXEC runs them, before the EXEC itself; those of a script before its EVAL. Commands
// that are loaded from a file are not reported. An observer may attach and detach any observer, and close any session;
// it must not run commands.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnCall(const FinishedCall& call) = 0;
  virtual void OnRefusal(const RefusedCall& /*call*/) {}
  virtual void OnWait(const WaitingCall& /*call*/) {}
  virtual void OnQueued(const WaitingCall& /*call*/) {}
};

// Which calls an observer is told of: those that reach one of the limits.
struct CallLimits {
  static constexpr int64_t kNoTime = std::numeric_limits<int64_t>::max();
  static constexpr size_t kNoSize = std::numeric_limits<size_t>::max();
  static constexpr CallLimits EveryCall() { return {.from_us = std::numeric_limits<int64_t>::min()}; }

  int64_t from_us = kNoTime;
  size_t from_request_bytes = kNoSize;
  size_t from_reply_bytes = kNoSize;

  // Cost: three compares, and O(words) with a limit for requests.
  bool IsReachedBy(const FinishedCall& call) const {
    return call.duration_us >= from_us || call.reply_bytes >= from_reply_bytes ||
           (from_request_bytes != kNoSize && HasLargeRequest(call));
  }

 private:
  // Sizes are added first: the exact number, with the digits of each size, matters near the limit only.
  bool HasLargeRequest(const FinishedCall& call) const {
    constexpr size_t kMostAroundWord = 32;  // "$4294967295\r\n" and "\r\n"
    size_t bytes = (call.words.size() + 1) * kMostAroundWord;
    for (const Bytes word : call.words) bytes += word.size();
    return bytes >= from_request_bytes && RequestBytes(call.words) >= from_request_bytes;
  }
};

class CallObservers {
 public:
  // From now on the observer is told of calls that reach the limits, and of refusals and waits. If it is attached
  // already, this changes the limits. It must live until it is detached.
  void Attach(CallObserver& observer, const CallLimits& limits = CallLimits::EveryCall());
  // Does nothing if it is not attached.
  void Detach(CallObserver& observer);

  // Cost: that of CallLimits, if no observer wants such a call.
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
  CallLimits least_;  // of all of them
  int depth_ = 0;     // of ForEach
};

// The words of a call, without the secrets among them (Call::Redact).
std::vector<Bytes> ShownWords(const Session& session, std::span<const Bytes> words);

}  // namespace respite
