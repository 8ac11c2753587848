// Executor: runs a request, from its arguments to the written reply. ExecuteForClient, ExecuteAccepted and RunToEnd
// show the steps of a request in order. No code here asks for a command's name: special properties of a command are
// declared in its CommandSpec.
//
// A command inside a transaction is queued, and later runs through ExecuteNested, as do the commands of a script.
// Attached observers (CallObservers) are told of the commands that a client, the primary, EXEC or a script runs, and of
// refused commands, but not of commands from files (Replay).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/lap_timer.h"
#include "base/late_bound.h"
#include "base/refusal.h"
#include "base/result.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/session.h"
#include "server/clients/waiting_requests.h"
#include "server/execution/call.h"
#include "server/execution/call_observer.h"
#include "server/execution/gate_rules.h"
#include "server/execution/reply_editor.h"
#include "server/execution/request.h"
#include "server/execution/request_faults.h"
#include "server/execution/slot_router.h"
#include "server/execution/stats_recorder.h"
#include "server/runtime/env.h"

namespace respite {

class ClientLimits;
class ClientMemory;
class Clients;
struct Dataset;
class Durability;
class Eviction;
class Gates;
class ClientFaults;
class HttpGuard;
class MigratingKeys;
class Pause;
struct CurrentExecution;
struct Role;
struct Services;
class Tracking;
class BlockedClients;
class WatchedKeys;

class Executor final : public RequestRunner {  // runs requests, from the arguments to the reply
 public:
  struct Parts {  // the objects that Executor uses; its constructor gets them
    const Env& env;
    const Services& services;             // passed to command handlers
    CurrentExecution& current_execution;  // the command that runs now
    HttpGuard& http_guard;                // closes connections that send HTTP
    const Gates& gates;                   // checks that may refuse commands before they run
    Dataset& data;
    Eviction& eviction;                             // frees memory above maxmemory
    Clients& clients;                               // all sessions
    ClientMemory& client_memory;                    // enforces maxmemory-clients
    ClientLimits& limits;                           // enforces client-output-buffer-limit
    Tracking& tracking;                             // CLIENT TRACKING: keys that clients may have cached
    BlockedClients& blocked_clients;                // clients in BLPOP, WAIT …
    WatchedKeys& watched_keys;                      // keys that clients watch (WATCH)
    Pause& pause;                                   // state of CLIENT PAUSE and of other pauses of writes
    MigratingKeys& migrating_keys;                  // keys that MIGRATE is sending
    ClientFaults& client_faults;                    // faults of connections and replies (TEST FAULT)
    const RequestFaultSources& faults;              // sources of injected faults (TEST FAULT)
    const LateBound<ReplyEditor>& reply_editor;     // shuffles elements of replies while TEST SHUFFLE is on
    const LateBound<const Durability>& durability;  // says whether disk errors forbid writes
    const Role& role;
    StatsRecorder& stats_recorder;  // counts commands for INFO
    CallObservers& observers;       // attached observers, told of commands
  };
  explicit Executor(const Parts& parts)
      : parts_(parts), current_execution_(parts.current_execution), lap_(parts.env.real_clock) {}

  void ReadClocks() override;  // reads the clocks and updates the cached times; called before requests run
  const Command* Resolve(std::span<const Bytes> arguments) const;  // finds the command or subcommand; null: none
  Outcome Execute(Request& request);  // checks a request, then runs, queues or delays it; replies in session.out
  Outcome RunAgain(Session& session, const Command& command,  // runs the request of a blocked client again
                   std::span<const Bytes> arguments, Progress::Stage stage) override {
    Request request{.session = session, .command = &command, .words = arguments, .progress = {.stage = stage}};
    return Execute(request);
  }

  // Runs one command of a transaction, a script or TEST LOAD, as part of the Unit (atomic execution) of the EXEC, EVAL
  // or TEST LOAD. Makes no checks: the caller has made them. Appends the reply to session.out. If the handler refuses
  // the command, the reply is an error.
  void ExecuteNested(Unit& unit, Session& session, const Command& command,  // runs a command of EXEC, script, TEST LOAD
                     std::span<const Bytes> arguments);
  // Applies CLIENT REPLY to the output from `reply_start` on, which is the header of EXEC's reply or the reply of one
  // of its commands. If replies are off, removes this output. Otherwise marks it as kept, so that a later CLIENT REPLY
  // OFF in the same transaction does not drop it. Must be called after the header and after each command, because
  // CLIENT REPLY takes effect between the commands of a transaction.
  void ApplyReplyModeInExec(Session& session, size_t reply_start);  // applies CLIENT REPLY to one reply in EXEC
  // Marks the output so far as kept, so that CLIENT REPLY OFF does not drop it. SUBSCRIBE and similar commands call
  // this, because they reply with messages, which Redis sends even if replies are off. Does nothing in a script.
  void KeepMessages(const Session& session) {  // for SUBSCRIBE: protects the output so far from CLIENT REPLY OFF
    if (!session.IsScript()) kept_output_end_ = session.out.Size();
  }
  // Runs a command of a file that is being loaded, after checking the gates of `path` (kFile or kFixture). The command
  // is not counted and cannot block, and its reply is dropped. Fails with the error that a client would get. Requires:
  // `unit` replays commands (Unit::Origin::kReplayed).
  Result<Done> Replay(RequestPath path, Unit& unit, Session& session,  // runs a command of a file; fails with its error
                      const Command& command, std::span<const Bytes> arguments);
  // Tells the observers that a command of the running transaction or script was refused. The caller writes the error
  // reply. `command` is null if there is no such command.
  void TellObserversOfNestedRefusal(Session& session,  // tells observers of a refusal in EXEC or a script
                                    const Command* command, std::span<const Bytes> arguments, Bytes error);
  // Applies a fault of TEST FAULT to a command that EXEC is about to run. A fault of kind kError or kReply replaces the
  // command's reply: returns true, and the command must not run. Any other fault is kept for the whole reply of EXEC:
  // returns false.
  bool ApplyFaultInTransaction(Session& session, const Command& command,  // applies TEST FAULT; true: do not run it
                               std::span<const Bytes> arguments);
  // Applies TEST FAULT to a command that the script of the client `caller` calls in database `db`. A fault that makes a
  // command fail (kError) is thrown as a Refusal, which the script gets. Any other fault applies to the reply of the
  // whole script, when the script ends.
  void ApplyFaultInScript(Session& caller, int db, const Command& command,  // applies TEST FAULT; may throw a Refusal
                          std::span<const Bytes> arguments);
  // Replies to a blocked client after a timeout, CLIENT UNBLOCK or a change of role, and tells the observers. Does not
  // run the request again.
  void ReplyToEndedWait(const BlockedClient& blocked, UnblockReason reason) override;  // replies to a blocked client
  // The running command, saved for a time in which other commands run: during a slow script, while the command loads
  // data, or while a command of a file runs. Meanwhile the Executor behaves as if the saved command were not running.
  struct SavedExecution {          // the running command, while other clients are served or a file is replayed
    const Command* command;        // the command that was running; null: none
    const Session* session;        // session of the saved command
    std::span<const Bytes> words;  // arguments, with the command's name
    int nesting;                   // nesting of commands: 0 outside EXEC and scripts
    size_t kept_output_end;        // kept_output_end_ when the execution was saved
  };
  SavedExecution SaveExecution();                      // sets the running command aside, until RestoreExecution
  void RestoreExecution(const SavedExecution& saved);  // makes the saved command the running one again

  // Returns the time that TIME shows: when the running Unit (atomic execution) began, or when AdvanceUnitWallTime was
  // last called since.
  int64_t UnitWallUs() const { return unit_wall_us_; }  // what TIME shows: Unix time in µs when the running Unit began
  // Reads the clocks again, and sets the time that TIME returns to now. Called while a script is busy
  // (busy-reply-threshold), and after TEST CLOCK has set the clock. As in Redis, the time with which a running script
  // compares deadlines does not change: a key that had not expired when it began does not expire before it ends.
  void AdvanceUnitWallTime();  // sets the time that TIME shows (UnitWallUs) to the current time

  Refusal UnknownCommand(std::span<const Bytes> arguments) const;  // the error "unknown command …" or "… subcommand …"

 private:
  Outcome ExecuteForClient(Request& request);  // applies TEST FAULT, makes all checks, then runs, queues or delays it
  // Executes a request from the replication stream of the primary. Makes only the checks that gate_rules.h lists for
  // the primary. Pauses (CLIENT PAUSE, failover …) also delay this request.
  Outcome ExecuteForPrimary(Request& request);  // runs a request from the primary's replication stream
  Outcome ExecuteAccepted(Request& request);    // runs, queues or pauses a request that was not refused
  Outcome RunToEnd(Request& request);           // runs the request, and finishes the reply unless the client is blocked

  void EnforceLimits(Session& session);           // enforces maxmemory, maxmemory-clients …; may close the session
  void PassGates(Request& request);               // sets request.flags, and throws if a gate (check) refuses
  bool IsPaused(const Request& request) const;    // true: a pause (CLIENT PAUSE, failover …) delays the request
  static bool MustQueue(const Request& request);  // after MULTI: whether the request is queued until EXEC
  bool MustWaitForMigration(const Request& request) const;  // true: the request must wait for MIGRATE to send its keys
  Outcome PauseUntilUnpaused(const Request& request);  // stores the request until CLIENT PAUSE (or failover …) ends
  Outcome Queue(const Request& request);               // queues the command until EXEC
  Outcome PauseForMigration(const Request& request);   // stores the request until MIGRATE has sent the keys
  void Run(Request& request);                          // sets current_execution_, and runs the handler
  Outcome Block(const Request& request);          // called after a handler has blocked its client; returns kBlocked
  Outcome ContinueLater(const Request& request);  // stores a request whose handler continues in the next loop iteration
  void EndRequest(const Request& request);        // finishes the reply, and tells the observers

  void ReadTime();                                            // updates the cached clock time
  std::optional<Outcome> ApplyFault(const Request& request);  // applies TEST FAULT; nullopt: run the request; may throw
  void AnswerInstead(const Request& request, Bytes reply);    // replies with `reply` (RESP); the request does not run
  // Completes the reply: removes the reply if CLIENT REPLY has turned replies off, and applies a fault of TEST FAULT to
  // the reply. Never removes the first `kept_bytes` bytes of the session's output.
  void FinishReply(Session& session, size_t reply_start, size_t kept_bytes = 0);  // applies CLIENT REPLY and faults
  void LimitReply(Session& session);              // before a command: limits its reply by client-output-buffer-limit
  void CloseIfReplyOverflowed(Session& session);  // closes a client whose reply exceeded client-output-buffer-limit
  void EndFaultyReply(Session& session, size_t reply_start);    // applies a fault of TEST FAULT to a complete reply
  void PauseFaultyReply(Session& session, size_t reply_start);  // holds back the start of a reply that a fault will hit
  void PauseRequest(Session& session,  // stores the request, to run (again) in a later loop iteration
                    std::span<const Bytes> arguments, Progress progress);
  void Reject(const Request& request, const Refusal& refusal);  // replies with an error; a refused EXEC also ends MULTI
  const Command* FindReplicatedCommand(const Session& session,  // a propagated command by its original name; null: none
                                       std::span<const Bytes> arguments) const;
  void RunHandler(Request& request);  // runs the handler in a new execution (Unit)
  // Chooses the error for a session whose blocked request ends because this server has become a replica. The session
  // closes after the error, unless the error redirects the client to the primary.
  std::string RoleChangeError(Session& session) const;     // the error for a wait that a role change ended
  ExpiryRule ExpiryRuleFor(const Session& session) const;  // whether expired keys are purged, hidden or visible
  void RunHandlerIn(Unit& unit, Request& request);         // runs the handler as part of this execution (Unit)
  void Record(Call& call, const Request& request);         // records the command for replicas and the append-only file
  void TrackReads(const Request& request);                 // CLIENT TRACKING: notes the keys that the command has read
  static void EndCachingChoice(
      const Request& request);                   // ends the choice of CLIENT CACHING, if it was for this request
  void SendDeferredPushes(Session& session);     // sends the push messages that waited for the end of the reply
  Bytes ErrorOf(const Request& request) const {  // the error of a refusal; empty: success, or an error inside the reply
    return request.ending == FinishedCall::Ending::kFailed ? Bytes(last_error_) : Bytes();
  }
  static size_t ReplyBytesSince(const Session& session, size_t reply_start) {  // output bytes after `reply_start`
    return session.out.Size() - std::min(session.out.Size(), reply_start);
  }
  // Drops a command's reply to a replica and closes the replica's session, as Redis does, because the reply would
  // corrupt the replication stream. Does nothing if there is no reply, or if this output is the stream itself (PSYNC).
  // `error` is the text of an error reply, or empty.
  void CloseReplicaThatGotReply(Session& session, const Command* command, Bytes error,  // closes a replica with a reply
                                size_t reply_start);
  void Tell(const FinishedCall& call);  // tells the observers of a finished command
  void Tell(const RefusedCall& call);   // tells the observers of a refused command
  // Drops the output since `reply_start` if CLIENT REPLY OFF or SKIP says so. Also notes the end of the command for
  // CLIENT REPLY SKIP. Must be called once after each command while the mode is not ON.
  void ApplyReplyMode(Session& session, size_t reply_start);  // drops a reply if CLIENT REPLY says so; ends a SKIP

  const Parts parts_;                    // the objects that the constructor got
  CurrentExecution& current_execution_;  // the command that runs now; only the Executor changes it
  LapTimer lap_;                         // reads the real time at low cost
  int64_t unit_wall_us_ = 0;             // what TIME shows: Unix time in µs when the running Unit began
  size_t kept_output_end_ = 0;  // size of the session's output up to which CLIENT REPLY OFF drops nothing; 0: none
  static constexpr size_t kMaxKeptErrorBytes = 1024;  // a longer last_error_ is freed after the call
  std::string last_error_;  // error text that the last failed command has thrown; empty: its reply has the error
};

// Reports a finished command to the StatsRecorder and the observers. Then clears the list of the command's secret
// arguments (redacted_arguments), which observers hide, and frees a long error text. The StatsRecorder is called
// directly, because it needs every call; observers have thresholds.
inline void Executor::Tell(const FinishedCall& call) {
  parts_.stats_recorder.OnCall(call);
  parts_.observers.OnCall(call);
  call.session.redacted_arguments.clear();
  if (!call.error.empty()) [[unlikely]]
    FreeIfLarge(last_error_, kMaxKeptErrorBytes);
}

}  // namespace respite
