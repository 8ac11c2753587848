// CallObserver: hears of each command when it is over. SLOWLOG, LATENCY and MONITOR are observers, and whoever else has
// to know what clients, transactions and scripts called.
//
//   class Count final : public CallObserver {
//     void OnCall(const FinishedCall&) override { ++calls; }
//   };
//   observers.Attach(count);       // every call from now on
//   observers.Attach(count, 500);  // only those that took 500 µs or longer
//   observers.Detach(count);
//
// An observer that wants nothing stands in no list, so it costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/held_request.h"

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
  Bytes error = {};  // with kFailed: why it was refused; empty when an error stands in its reply
  int depth = 0;     // of commands around it: 0: a client sent it; else it stood in a transaction or a script
};

// A command that was not let in: it did nothing but answer with an error.
struct RefusedCall {
  Session& session;
  const Command* command;  // null: the words name none
  std::span<const Bytes> words;
  Bytes error;
  int depth = 0;
};

// A command that found nothing and waits for its keys. OnCall follows when its wait is over, if the client stays.
struct WaitingCall {
  Session& session;
  const Command& command;
  std::span<const Bytes> words;
};

// Commands that were queued by MULTI are heard of when EXEC runs them, each before the EXEC; those of a script before
// its EVAL. What is loaded from a file is not heard of. An observer may attach and detach any observer, and close any
// session; it must not run commands.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnCall(const FinishedCall& call) = 0;
  virtual void OnRefusal(const RefusedCall& /*call*/) {}
  virtual void OnWait(const WaitingCall& /*call*/) {}
};

class CallObservers {
 public:
  static constexpr int64_t kEveryCall = std::numeric_limits<int64_t>::min();

  // From now on the observer hears of calls that took at least `from_us`, and of refusals and waits. For one that is
  // attached this changes `from_us`. It must stay until it is detached.
  void Attach(CallObserver& observer, int64_t from_us = kEveryCall);
  // Nothing happens to one that is not attached.
  void Detach(CallObserver& observer);

  // Cost: a compare, if nobody wants to hear of so short a call.
  void OnCall(const FinishedCall& call) {
    if (call.duration_us >= from_us_) TellOfCall(call);
  }
  void OnRefusal(const RefusedCall& call);
  void OnWait(const WaitingCall& call);

 private:
  static constexpr int64_t kNoCall = std::numeric_limits<int64_t>::max();

  struct Listener {
    CallObserver* observer;  // null: detached while somebody was being told
    int64_t from_us;
  };

  void TellOfCall(const FinishedCall& call);
  template <class Visit>
  void ForEach(Visit&& visit);
  void Tidy();

  std::vector<Listener> listeners_;
  int64_t from_us_ = kNoCall;  // the least of them
  int depth_ = 0;              // of ForEach
};

// The words of a call, without the secrets among them (Call::Redact).
std::vector<Bytes> ShownWords(const Session& session, std::span<const Bytes> words);

}  // namespace respite
