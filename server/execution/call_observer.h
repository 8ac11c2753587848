// CallObserver: an interface for objects that are notified of the finished commands of clients, transactions and
// scripts. SLOWLOG, LATENCY and MONITOR are such observers.
//
//   class Count final : public CallObserver {
//     void OnCall(const FinishedCall&) override { ++calls; }
//   };
//   observers.Attach(count);                    // every call from now on
//   observers.Attach(count, {.reported_from_us = 500});  // only calls of at least 500 µs
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

// A command that ran, as observers see it. Its texts and spans are valid only until OnCall returns.
struct FinishedCall {  // a command that ran, as observers (SLOWLOG, MONITOR …) see it
  enum class Ending : uint8_t { kSucceeded, kFailed };

  Session& session;                               // session of the client, or of the script
  const Command& command;                         // the command that ran
  std::span<const Bytes> words;                   // arguments, with the command's name
  int64_t duration_us = 0;                        // how long the command ran
  Ending ending = Ending::kSucceeded;             // whether the command ended with an error (kFailed)
  Progress::Stage stage = Progress::Stage::kNew;  // kAgain, kBegun: the command was blocked or paused before
  Bytes error = {};                               // with kFailed: the error; empty if the error is inside the reply
  int nesting = 0;                                // 0: sent by a client; greater: run by a transaction or script
  size_t reply_bytes = 0;                         // length of the reply; 0 for a command that a script called
};

struct RefusedCall {             // a command that was refused before it ran, as observers see it
  Session& session;              // session of the client, or of the script
  const Command* command;        // null if there is no such command
  std::span<const Bytes> words;  // arguments, with the command's name
  Bytes error;                   // the error reply
  int nesting = 0;               // 0: sent by a client; greater: run by a transaction or script
};

// A command that has blocked its client, or that a transaction has queued. OnCall later also reports this command: when
// the wait ends, or when EXEC runs it. OnCall is not called if the client disconnects before, or if the transaction is
// discarded.
struct WaitingCall {             // a command that blocks, or is queued in a transaction
  Session& session;              // session of the client
  const Command& command;        // the command that blocks or is queued
  std::span<const Bytes> words;  // arguments, with the command's name
};

// Is told of commands, also of those from the primary, but not of commands loaded from a file. The queued commands of a
// transaction are reported before its EXEC, and the commands of a script before its EVAL. An observer may attach and
// detach any observer and close any session, but must not run commands.
class CallObserver {  // is told of each command that ran, waits or was refused
 public:
  virtual ~CallObserver() = default;
  virtual void OnCall(const FinishedCall& call) = 0;      // the command ran
  virtual void OnRefusal(const RefusedCall& /*call*/) {}  // the command was refused, and did not run
  virtual void OnWait(const WaitingCall& /*call*/) {}     // the command has blocked its client
  virtual void OnQueued(const WaitingCall& /*call*/) {}   // the command was queued after MULTI
};

struct CallThresholds {  // an observer is told of the calls that reach at least one of these thresholds
  static constexpr int64_t kNeverReachedUs = std::numeric_limits<int64_t>::max();   // a threshold that no call reaches
  static constexpr size_t kNeverReachedBytes = std::numeric_limits<size_t>::max();  // a threshold that no call reaches
  static constexpr CallThresholds EveryCall() {  // thresholds that every call reaches
    return {.reported_from_us = std::numeric_limits<int64_t>::min()};
  }

  int64_t reported_from_us = kNeverReachedUs;  // calls that take at least this time are reported, whatever their sizes
  size_t reported_from_request_bytes = kNeverReachedBytes;  // calls whose request has this size or more are reported
  size_t reported_from_reply_bytes = kNeverReachedBytes;    // calls with at least this size of the reply are reported

  // Returns whether the call reaches at least one threshold. Cost: three comparisons, and O(arguments) if
  // reported_from_request_bytes is set.
  bool IsReachedBy(const FinishedCall& call) const {  // whether a call reaches at least one threshold
    return call.duration_us >= reported_from_us || call.reply_bytes >= reported_from_reply_bytes ||
           (reported_from_request_bytes != kNeverReachedBytes && HasLargeRequest(call));
  }

 private:
  // Returns whether the request has at least reported_from_request_bytes. First compares an upper bound, which is
  // cheap. The exact size, which depends on the digits of each length, is computed only if the bound reaches
  // reported_from_request_bytes.
  bool HasLargeRequest(const FinishedCall& call) const {  // whether the request reaches reported_from_request_bytes
    constexpr size_t kMaxBytesAroundArgument = 32;        // "$4294967295\r\n" and "\r\n"
    size_t bytes = (call.words.size() + 1) * kMaxBytesAroundArgument;
    for (const Bytes word : call.words) bytes += word.size();
    return bytes >= reported_from_request_bytes && RequestBytes(call.words) >= reported_from_request_bytes;
  }
};

class CallObservers {  // list of attached observers; tells them of commands
 public:
  // Adds an observer, or changes the thresholds of an attached one. The observer is told of calls that reach the
  // thresholds, and of all refused, blocked and queued commands. The observer must live until Detach.
  void Attach(CallObserver& observer,  // adds an observer, or sets its new thresholds
              const CallThresholds& thresholds = CallThresholds::EveryCall());
  void Detach(CallObserver& observer);  // removes an observer, if it is attached

  // Tells the observers whose thresholds the call reaches. If the call reaches none, costs only one check of
  // CallThresholds.
  void OnCall(const FinishedCall& call) {  // tells the observers whose thresholds the call reaches
    if (lowest_thresholds_.IsReachedBy(call)) NotifyOfCall(call);
  }
  void OnRefusal(const RefusedCall& call);  // tells all observers of a refused command
  void OnWait(const WaitingCall& call);     // tells all observers of a command that has blocked its client
  void OnQueued(const WaitingCall& call);   // tells all observers of a command that was queued after MULTI

 private:
  struct Attachment {           // an attached observer and its thresholds
    CallObserver* observer;     // the attached observer; null: it was detached during ForEach
    CallThresholds thresholds;  // the observer is told of calls that reach one of these thresholds
  };

  void NotifyOfCall(const FinishedCall& call);  // tells the observers whose thresholds the call reaches
  template <class Visit>
  void ForEach(Visit&& visit);  // calls visit(attachment) for each attached observer
  void Tidy();                  // removes detached observers

  std::vector<Attachment> attachments_;  // the attached observers, with their thresholds
  CallThresholds lowest_thresholds_;     // for each kind of threshold, the lowest one of all observers
  int depth_ = 0;                        // how many calls of ForEach are running, since calls may nest
};

// Returns the arguments of a call, with "(redacted)" in place of the arguments that Call::Redact hides.
std::vector<Bytes> ArgumentsWithoutSecrets(const Session& session,  // replaces secrets by "(redacted)"
                                           std::span<const Bytes> arguments);

}  // namespace respite
