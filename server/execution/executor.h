// Executor: runs a request, from its arguments to the written reply. ExecuteForClient, ExecuteAccepted and RunToEnd are
// the way of a request, from top to bottom. No code here depends on a command's name; special
// properties of a command are in its card (CommandSpec).
//
// A command inside a transaction is queued, and later runs through ExecuteNested, as do the commands of a script.
// CallObservers are notified of every call.
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
  struct Parts {  // the objects that it uses
    const Env& env;
    const Services& services;  // for handlers
    CurrentExecution& current_execution;
    HttpGuard& http_guard;
    const Gates& gates;
    Dataset& data;
    Eviction& eviction;
    Clients& clients;
    ClientMemory& client_memory;
    Tracking& tracking;
    BlockedClients& blocked_clients;
    WatchedKeys& watched_keys;
    Pause& pause;
    MigratingKeys& migrating_keys;
    ClientFaults& client_faults;
    const RequestFaultSources& faults;
    const LateBound<ReplyEditor>& reply_editor;
    const LateBound<const Durability>& durability;
    const Role& role;
    StatsRecorder& stats_recorder;
    CallObservers& observers;
  };
  explicit Executor(const Parts& parts)
      : parts_(parts), current_execution_(parts.current_execution), lap_(parts.env.pace) {}

  void ReadClocks() override;                                      // before a series of requests
  const Command* Resolve(std::span<const Bytes> arguments) const;  // the command or subcommand; null: none
  Outcome Execute(Request& request);                               // runs it and writes the reply to session.out
  Outcome RunAgain(Session& session, const Command& command, std::span<const Bytes> arguments,
                   Progress::Stage stage) override {
    Request request{.session = session, .command = &command, .words = arguments, .progress = {.stage = stage}};
    return Execute(request);
  }

  // Runs one command of a transaction or a script, in the Unit of the enclosing command. Appends its reply; a refusal
  // is written as an error reply.
  void ExecuteNested(Unit& unit, Session& session, const Command& command, std::span<const Bytes> arguments);
  // Keeps the output so far of a command that runs others (EXEC): it is sent even if a later command turns replies off.
  // If replies are off already, removes the output instead.
  void KeepOutputSoFar(Session& session, size_t reply_start);  // even if CLIENT REPLY OFF follows
  // Keeps the output so far, which consists of messages, whatever CLIENT REPLY says. Redis: CLIENT REPLY does not
  // suppress the messages that SUBSCRIBE and similar commands reply with.
  void KeepMessages(const Session& session) {  // whatever CLIENT REPLY says
    if (!session.IsScript()) kept_output_bytes_ = session.out.Size();
  }
  // Runs a command of a file that is being loaded. It passes the gates of `path` (kFile or kFixture), is not counted
  // and cannot block; its reply is dropped. Fails with the error that a client would get. Requires: the Unit repeats a
  // record.
  Result<Done> Replay(RequestPath path, Unit& unit, Session& session, const Command& command,
                      std::span<const Bytes> arguments);
  // Reports a refused command of the running transaction or script; the caller writes the reply. `command` is null if
  // there is no such command.
  void ReportNestedRefusal(Session& session, const Command* command, std::span<const Bytes> arguments, Bytes error);
  // Applies a fault of TEST FAULT to a command of a transaction. Faults of the connection apply to the reply of the
  // whole request. Returns true if the reply was written and the command must not run.
  bool ApplyFaultInTransaction(Session& session, const Command& command, std::span<const Bytes> arguments);
  // Applies a fault of TEST FAULT to a command of `caller`'s script in database `db`. Throws a fault of kind kError.
  void ApplyFaultInScript(Session& caller, int db, const Command& command, std::span<const Bytes> arguments);
  // Writes the reply to a request whose wait ended without running it again.
  void ReplyToEndedWait(const BlockedClient& blocked, UnblockReason reason) override;
  // While a script lets other clients be served, the Executor behaves as if no command were running.
  struct SavedExecution {  // the running command
    const Command* command;
    const Session* session;
    std::span<const Bytes> words;  // arguments, with the command's name
    int depth;
    size_t kept_output_bytes;  // of the command
  };
  SavedExecution SaveExecution();  // lets other clients be served while a script runs
  void RestoreExecution(const SavedExecution& saved);

  // When the running Unit began, or when other clients were last served during it.
  int64_t UnitWallUs() const { return unit_wall_us_; }  // UNIX time, for TIME
  // Advances the clock of TIME while a script is busy (busy-reply-threshold). Redis: the clock for expiry stands still,
  // so that keys that had not expired at the start of the script do not expire before its end.
  void AdvanceUnitWallTime();  // the clock of TIME

 private:
  Outcome ExecuteForClient(Request& request);
  // Executes a request in the stream of the primary. The request passes only the gates of kPrimary, and CLIENT PAUSE
  // pauses it.
  Outcome ExecuteForPrimary(Request& request);  // in its stream
  Outcome ExecuteAccepted(Request& request);    // for a request that has passed the gates
  Outcome RunToEnd(Request& request);           // runs it and, unless it waits, finishes the reply

  void EnforceLimits(Session& session);                     // of the tracking table, the clients' memory and all memory
  void PassGates(Request& request);                         // throws the refusal
  bool IsPaused(const Request& request) const;              // by CLIENT PAUSE
  static bool MustQueue(const Request& request);            // in a transaction
  bool MustWaitForMigration(const Request& request) const;  // until a MIGRATE of its keys has ended
  Outcome PauseForClientPause(const Request& request);
  Outcome Queue(const Request& request);  // until EXEC
  Outcome PauseForMigration(const Request& request);
  void Run(Request& request);                     // calls the handler of its command
  Outcome Block(const Request& request);          // its client is blocked
  Outcome ContinueLater(const Request& request);  // for a request that needs more than one Turn
  void EndRequest(const Request& request);        // finishes the reply, and tells the observers

  void ReadTime();                                            // when a command ends
  void SetCurrentTime(int64_t pace_us);                       // as the time of the next command
  std::optional<Outcome> ApplyFault(const Request& request);  // of TEST FAULT; nullopt: run it
  void AnswerInstead(const Request& request, Bytes reply);    // instead of running it
  // Completes the reply: removes it if the client wants none (CLIENT REPLY), and applies a fault to it. The output
  // before `kept_bytes` is sent in any case.
  void FinishReply(Session& session, size_t reply_start, size_t kept_bytes = 0);
  void EndFaultyReply(Session& session, size_t reply_start);    // when the reply is complete
  void PauseFaultyReply(Session& session, size_t reply_start);  // when it is incomplete; both need session.fault_state
  // Stores the request for a later Turn.
  void PauseRequest(Session& session, std::span<const Bytes> arguments, Progress progress);
  void Reject(const Request& request, const Refusal& refusal);                   // replies with the refusal
  const Command* FindReplicatedCommand(std::span<const Bytes> arguments) const;  // by its original name
  Refusal UnknownCommand(std::span<const Bytes> arguments) const;                // the error
  void RunHandler(Request& request);
  // Returns the error for a blocked session whose wait ends because this server has become a replica.
  std::string EndWaitByRoleChange(Session& session) const;  // returns the error
  ExpiryRule ExpiryRuleFor(const Session& session) const;   // whether it sees expired keys
  void RunHandlerIn(Unit& unit, Request& request);          // as part of the Unit
  void Record(Call& call, const Request& request);          // for replicas and the append-only file
  void TrackReads(const Request& request);                  // for client-side caching
  void SendDeferredPushes(Session& session);                // after the reply
  Bytes ErrorOf(const Request& request) const {             // empty: it was not refused
    return request.ending == FinishedCall::Ending::kFailed ? Bytes(last_error_) : Bytes();
  }
  static size_t ReplyBytesSince(const Session& session, size_t reply_start) {
    return session.out.Size() - std::min(session.out.Size(), reply_start);
  }
  // Closes a replica that would get a reply, as Redis does, because the reply would corrupt its stream. `error` is the
  // reply if it is an error, else empty.
  void CloseReplicaThatGotReply(Session& session, const Command* command, Bytes error, size_t reply_start);
  void Tell(const FinishedCall& call);  // the observers
  void Tell(const RefusedCall& call);   // the observers
  // Drops the reply as CLIENT REPLY requires. Requires: the mode is not kOn.
  void ApplyReplyMode(Session& session, size_t reply_start);  // drops a reply that the client does not want

  const Parts parts_;  // the objects that it uses
  CurrentExecution& current_execution_;
  LapTimer lap_;                  // reads the clocks
  int64_t unit_wall_us_ = 0;      // UNIX time, for TIME
  size_t kept_output_bytes_ = 0;  // this part of the running command's output is always sent
  std::string last_error_;        // of the last command that a handler refused
};

// Statistics are always recorded, so the recorder is called directly.
inline void Executor::Tell(const FinishedCall& call) {
  parts_.stats_recorder.OnCall(call);
  parts_.observers.OnCall(call);
  call.session.redacted_arguments.clear();
}

}  // namespace respite
